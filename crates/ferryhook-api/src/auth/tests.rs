//! Whole journeys of people, through the real router.

mod browser;
mod guessing;
mod home;
mod letters;
mod passing;
mod second_factor;
mod sessions;
mod setup;
