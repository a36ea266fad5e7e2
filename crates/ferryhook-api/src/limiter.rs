//! The limiter: how often one caller may ask.

use axum::http::HeaderMap;

use crate::caller::Proof;
use crate::problem::Problem;

#[derive(Debug, Clone, Default)]
pub struct Limiter;

/// Where a caller stands, for the headers of the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace;

impl Limiter {
    pub(crate) fn take(&self, _: &Proof) -> Result<Pace, Problem> {
        Ok(Pace)
    }
}

impl Pace {
    pub(crate) fn tell(self, _: &mut HeaderMap) {}
}
