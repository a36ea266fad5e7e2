//! Hops: how often a request has been through a Ferryhook, so that a circle of deliveries ends.
//!
//! A destination may be our own address, or lead back to it. Each delivery carries its count in
//! `X-Ferryhook-Hops`; whoever receives one that has come too far refuses it.

use std::fmt;

use crate::Headers;

pub const HEADER: &str = "x-ferryhook-hops";

/// A chain of gateways is plausible up to here; beyond, it is a circle.
pub const HOPS_MAX: u8 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hops(u8);

impl Hops {
    /// What an arriving request says. A proxy may have joined several values, of which the largest
    /// counts; what is not a number is not ours and says nothing.
    pub fn of(headers: &Headers) -> Self {
        let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HEADER));
        let counts = values.flat_map(|(_, value)| value.split(',')).filter_map(count);
        Self(counts.max().unwrap_or(0))
    }

    /// What the next delivery says.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Whether a request that arrives with this count goes in a circle and must be refused.
    pub fn is_circle(self) -> bool {
        self.0 >= HOPS_MAX
    }
}

/// A number too large to count is still a number: too many.
fn count(text: &str) -> Option<u8> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u8::MAX))
}

impl fmt::Display for Hops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
