//! Keeps out what is not as its owner has declared it. What is only to be warned of comes in, and
//! is looked at later by the flush of types.
//!
//! The events of a request share a budget, and others get their turn between two of them. A check
//! that can take a while is made on a thread that serves nobody else.

use std::sync::Arc;

use bytes::Bytes;
use ferryhook_core::event_type::Mode;
use ferryhook_core::event_type::declared::{Budget, Mismatch, TooLong};
use ferryhook_core::trigger::Posted;
use ferryhook_store::repositories::Arrival;
use serde_json::Value;

use super::posted::{Declined, Filed};
use super::refusal::Refusal;
use super::{Door, limits};
use crate::routes::{Declaration, Route, no_json};

/// What was posted, without those that are refused.
pub(super) struct Sifted {
    pub(super) good: Vec<Posted>,
    /// In the order they came; absent where one is good.
    refused: Vec<Option<Declined>>,
}

impl Sifted {
    pub(super) async fn of(door: &Door, route: &Route, posted: Vec<Posted>) -> Self {
        let mut good = Vec::with_capacity(posted.len());
        let mut refused = Vec::new();
        let mut budget = Budget::default();
        for posted in posted {
            match posted_refusal(door, route, posted, &mut budget).await {
                Ok(posted) => {
                    good.push(posted);
                    refused.push(None);
                }
                Err(declined) => refused.push(Some(declined)),
            }
        }
        Self { good, refused }
    }

    /// What became of all of them, in the order they came.
    pub(super) fn join(
        refused: Vec<Option<Declined>>,
        filed: Vec<Result<Filed, Declined>>,
    ) -> Vec<Result<Filed, Declined>> {
        let mut filed = filed.into_iter();
        let one = |refused: Option<Declined>| match refused {
            Some(declined) => Some(Err(declined)),
            None => filed.next(),
        };
        refused.into_iter().filter_map(one).collect()
    }

    pub(super) fn parts(self) -> (Vec<Posted>, Vec<Option<Declined>>) {
        (self.good, self.refused)
    }
}

async fn posted_refusal(
    door: &Door,
    route: &Route,
    mut posted: Posted,
    budget: &mut Budget,
) -> Result<Posted, Declined> {
    let Some(declaration) = strict(route, Some(&posted.event_type)) else { return Ok(posted) };
    let content = Value::Object(std::mem::take(&mut posted.payload));
    let wrong = match looked_at(door, declaration, content, budget).await {
        Ok((Value::Object(payload), wrong)) if wrong.is_empty() => {
            return Ok(Posted { payload, ..posted });
        }
        Ok((_, wrong)) => Ok(wrong),
        Err(too_long) => Err(too_long),
    };
    let refusal = refusal(door, route, &posted.event_type, &wrong, Bytes::new());
    let place = |one: Mismatch| (format!("/payload{}", one.pointer), one.reason);
    let errors = match wrong {
        Ok(wrong) => wrong.into_iter().map(place).collect(),
        Err(too_long) => vec![("/payload".to_owned(), too_long.to_string())],
    };
    Err(Declined { errors, ..Declined::from(&refusal) })
}

/// Refuses a request if one of its events is not as declared. `whole` is its body.
pub(super) async fn check(
    door: &Door,
    route: &Route,
    arrivals: &[Arrival],
    whole: &Bytes,
) -> Result<(), Refusal> {
    let mut budget = Budget::default();
    for Arrival { event, .. } in arrivals {
        let name = event.event_type.as_deref();
        let Some(declaration) = strict(route, name) else { continue };
        let wrong = match serde_json::from_slice(event.body.as_bytes()) {
            Ok(content) => looked_at(door, declaration, content, &mut budget).await,
            Err(_) => Ok((Value::Null, vec![no_json()])),
        };
        let wrong = wrong.map(|(_, wrong)| wrong);
        if !matches!(&wrong, Ok(wrong) if wrong.is_empty()) {
            return Err(refusal(door, route, name.unwrap_or_default(), &wrong, whole.clone()));
        }
    }
    Ok(())
}

/// What a marked event would have been refused for, had its signature held when it came.
pub(super) async fn doubt(door: &Door, route: &Route, arrival: &Arrival) -> Option<Refusal> {
    let body = arrival.event.body.as_bytes();
    check(door, route, std::slice::from_ref(arrival), body).await.err()
}

fn strict<'r>(route: &'r Route, event_type: Option<&str>) -> Option<&'r Arc<Declaration>> {
    route.declared.find(event_type).filter(|found| found.mode() == Mode::Reject)
}

/// Gives the content back, with what is wrong about it.
async fn looked_at(
    door: &Door,
    declaration: &Arc<Declaration>,
    content: Value,
    budget: &mut Budget,
) -> Result<(Value, Vec<Mismatch>), TooLong> {
    let steps = declaration.spend(&content, budget)?;
    if steps <= limits::CHECK_STEPS_AT_ONCE {
        let wrong = declaration.mismatches(&content);
        tokio::task::yield_now().await;
        return Ok((content, wrong));
    }
    let turn = door.checking.clone().acquire_owned().await.map_err(|_| TooLong)?;
    let declaration = declaration.clone();
    let look = move || {
        let wrong = declaration.mismatches(&content);
        // Whoever hangs up meanwhile does not give their turn to another: the thread is busy.
        drop(turn);
        (content, wrong)
    };
    let looked = tokio::task::spawn_blocking(look).await;
    looked.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => TooLong, // the server stops
    })
}

/// Which is counted on the type.
fn refusal(
    door: &Door,
    route: &Route,
    name: &str,
    wrong: &Result<Vec<Mismatch>, TooLong>,
    body: Bytes,
) -> Refusal {
    let first = match wrong {
        Ok(wrong) => wrong.first().cloned(),
        Err(error) => Some(Mismatch { pointer: String::new(), reason: error.to_string() }),
    };
    let Mismatch { pointer, reason } =
        first.clone().unwrap_or(Mismatch { pointer: String::new(), reason: String::new() });
    if let Some(first) = first {
        door.hand_over.mismatched(route.source.account_id, name, Mode::Reject, first);
    }
    let detail = match wrong {
        Ok(_) => {
            let place = if pointer.is_empty() { String::new() } else { format!("at {pointer}, ") };
            format!("This is not what {name} is declared to be: {place}{reason}.")
        }
        Err(_) => format!(
            "To check whether this is what {name} is declared to be would take too long; send less \
             at once, or declare it more simply."
        ),
    };
    Refusal::NotAsDeclared { detail, body }
}
