//! Keeps out what is not as its owner has declared it. What is only to be warned of comes in, and
//! is looked at behind the commit.

use bytes::Bytes;
use ferryhook_core::event_type::Mode;
use ferryhook_core::event_type::declared::Mismatch;
use ferryhook_core::trigger::Posted;
use ferryhook_store::repositories::Arrival;
use serde_json::Value;

use super::Door;
use super::posted::{Declined, Filed};
use super::refusal::Refusal;
use crate::routes::{Declaration, Route};

/// What was posted, without those that are refused.
pub(super) struct Sifted {
    pub(super) good: Vec<Posted>,
    /// In the order they came; absent where one is good.
    refused: Vec<Option<Declined>>,
}

impl Sifted {
    pub(super) fn of(door: &Door, route: &Route, posted: Vec<Posted>) -> Self {
        let mut good = Vec::with_capacity(posted.len());
        let mut refused = Vec::new();
        for posted in posted {
            match posted_refusal(door, route, posted) {
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

fn posted_refusal(door: &Door, route: &Route, mut posted: Posted) -> Result<Posted, Declined> {
    let Some(declaration) = strict(route, Some(&posted.event_type)) else { return Ok(posted) };
    let content = Value::Object(std::mem::take(&mut posted.payload));
    let wrong = declaration.mismatches(&content);
    if let Value::Object(payload) = content {
        posted.payload = payload;
    }
    if wrong.is_empty() {
        return Ok(posted);
    }
    let name = &posted.event_type;
    let mut declined = Declined::from(&refusal(door, route, name, &wrong, Bytes::new()));
    let place = |one: Mismatch| (format!("/payload{}", one.pointer), one.reason);
    declined.errors = wrong.into_iter().map(place).collect();
    Err(declined)
}

/// Refuses a request if one of its events is not as declared. `whole` is its body.
pub(super) fn check(
    door: &Door,
    route: &Route,
    arrivals: &[Arrival],
    whole: &Bytes,
) -> Result<(), Refusal> {
    for Arrival { event, .. } in arrivals {
        let name = event.event_type.as_deref();
        let Some(declaration) = strict(route, name) else { continue };
        let wrong = declaration.mismatches_of(event);
        if !wrong.is_empty() {
            return Err(refusal(door, route, name.unwrap_or_default(), &wrong, whole.clone()));
        }
    }
    Ok(())
}

fn strict<'r>(route: &'r Route, event_type: Option<&str>) -> Option<&'r Declaration> {
    let found = route.declared.find(event_type)?;
    (found.mode() == Mode::Reject).then_some(found)
}

/// Which is counted on the type.
fn refusal(door: &Door, route: &Route, name: &str, wrong: &[Mismatch], body: Bytes) -> Refusal {
    let first = wrong.first().cloned();
    let Mismatch { pointer, reason } =
        first.clone().unwrap_or(Mismatch { pointer: String::new(), reason: String::new() });
    if let Some(first) = first {
        door.hand_over.mismatched(route.source.account_id, name, Mode::Reject, first);
    }
    let place = if pointer.is_empty() { String::new() } else { format!("at {pointer}, ") };
    let detail = format!("This is not what {name} is declared to be: {place}{reason}.");
    Refusal::NotAsDeclared { detail, body }
}
