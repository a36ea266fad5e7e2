//! Whole journeys of people, through the real router.

mod browser;
mod guessing;
mod letters;
mod passing;
mod second_factor;
mod sessions;
mod setup;
