//! Plans and what is paid for them: the binary, a Stripe that keeps state, and Stripe's own library
//! to compare with and to sign.

mod library;
mod likeness;
mod live;
mod messages;
mod off;
mod operator;
mod racing;
mod recorder;
mod shop;
