//! Signing in, as people do it: over HTTP, with cookies, letters and platforms.

mod journeys;
mod letters;
mod person;
mod platforms;
mod provider;
mod racing;
