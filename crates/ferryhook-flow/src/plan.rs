//! Plan: which connections want an event, by its type and by their filters.
//!
//! A pure function of the event and the route, so that doing it twice, after a crash or on two
//! machines, comes to the same. It starts nothing and stores nothing.

use std::sync::Arc;

use ferryhook_core::filter::Seen;
use ferryhook_core::{Delivery, Env, Event, Timestamp};

use crate::routes::{Route, Way};

#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) delivery: Delivery,
    pub(crate) way: Arc<Way>,
}

/// The event cannot be planned by these rules, and will not be by trying again at once.
#[derive(Debug, thiserror::Error)]
#[error("connection {connection}: {reason}")]
pub(crate) struct Unplannable {
    connection: String,
    reason: String,
}

pub(crate) fn plan(
    event: &Event,
    route: &Route,
    now: Timestamp,
    env: &Env,
) -> Result<Vec<Planned>, Unplannable> {
    let mut plans = Vec::with_capacity(route.ways.len());
    let seen = Seen::of(event);
    for way in &route.ways {
        let wants = way
            .wants(event, &seen)
            .map_err(|reason| Unplannable { connection: way.connection.id.to_string(), reason })?;
        if wants && !is_there(&plans, way) {
            plans.push(Planned { delivery: delivery(event, way, now, env), way: way.clone() });
        }
    }
    Ok(plans)
}

/// Those who share an inbox have an event once, however many ways lead there.
fn is_there(plans: &[Planned], way: &Way) -> bool {
    let group = |way: &Way| way.inbox().map(|settings| settings.group.clone());
    way.inbox().is_some() && plans.iter().any(|planned| group(&planned.way) == group(way))
}

/// The delivery of an event over one connection, wanted or not.
pub(crate) fn delivery(event: &Event, way: &Way, now: Timestamp, env: &Env) -> Delivery {
    if let Some(settings) = way.inbox() {
        return Delivery::to_fetch(event, way.connection.id, settings, now);
    }
    let mut delivery = Delivery::plan(event, &way.connection, &way.policy, now, env.fraction());
    delivery.order_key = way.order_key(event);
    match way.hold() {
        Some(reason) => delivery.hold(reason, now),
        None => delivery,
    }
}

#[cfg(test)]
mod tests;
