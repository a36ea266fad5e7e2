//! Explain: what the rules of a connection make of an event, and why.
//!
//! Asked by people about events that are stored, with the rules as they are ([`at`]) or as
//! they might be ([`Trial`]). It runs the very rules that deliveries run, and has no effect:
//! nothing is stored, sent or counted.

mod changes;
mod trial;

use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::delivery::Cancel;
use ferryhook_core::explained::{Explained, Transformed, Verdict};
use ferryhook_core::filter::Seen;
use ferryhook_core::transform::{Outcome, Shaped};
use ferryhook_core::{Connection, Event, Timestamp};

use crate::routes::Way;
use crate::scripts::Scripts;
use crate::shape::{self, Shape, Unshaped};

pub use trial::Trial;

/// What the rules of this connection make of it now.
pub async fn at(
    connection: &Connection,
    event: &Event,
    scripts: &Scripts,
    now: Timestamp,
) -> Explained {
    explain(event, &Way::new(connection.clone(), None, now), scripts).await
}

async fn explain(event: &Event, way: &Way, scripts: &Scripts) -> Explained {
    let Connection { id, name, event_types, pipeline_order, .. } = &way.connection;
    let filter = way.filter().ok().flatten();
    let clauses = |seen: &Event| filter.map(|filter| filter.explain(&Seen::of(seen)));
    let mut seen_by_filter = match pipeline_order {
        PipelineOrder::FilterFirst => clauses(event),
        PipelineOrder::TransformFirst => None,
    };
    let mut transform = None;
    let look = |shaped: Option<&Result<Shaped, Unshaped>>| {
        transform = shaped.map(|shaped| told(event, shaped));
        if *pipeline_order == PipelineOrder::TransformFirst {
            seen_by_filter = left(event, shaped).and_then(clauses);
        }
    };
    let (verdict, _) = judge(event, way, scripts, look).await;
    Explained {
        connection_id: *id,
        connection: name.clone(),
        verdict,
        event_types: event_types.clone(),
        pipeline_order: *pipeline_order,
        filter: seen_by_filter,
        transform,
    }
}

/// What would be done, and with which event if not with this one. `look` is shown what the
/// transform made of it, if its turn comes.
pub(crate) async fn judge(
    event: &Event,
    way: &Way,
    scripts: &Scripts,
    look: impl FnOnce(Option<&Result<Shaped, Unshaped>>),
) -> (Verdict, Option<Box<Event>>) {
    let is_wanted = way.types().map(|types| types.wants(event.event_type.as_deref()));
    let wanted = match is_wanted {
        Ok(false) => return (Verdict::OtherType, None),
        Ok(true) => way.wants(event, &Seen::of(event)),
        Err(reason) => Err(reason),
    };
    match wanted {
        Ok(true) => {}
        Ok(false) => return (Verdict::Filtered, None),
        Err(reason) => return (Verdict::Failed { reason }, None),
    }
    let shaped = shape::transformed(event, way, scripts).await;
    look(shaped.as_ref());
    match shape::finished(event, way, shaped) {
        Shape::AsItCame => (Verdict::Delivered, None),
        Shape::Changed(changed) => (Verdict::Delivered, Some(changed)),
        Shape::Unwanted(Cancel::TransformDropped, reason) => (Verdict::Dropped { reason }, None),
        Shape::Unwanted(..) => (Verdict::Filtered, None),
        Shape::Failed(reason) | Shape::NotNow(reason) => (Verdict::Failed { reason }, None),
    }
}

/// If it failed, the verdict says why.
fn told(event: &Event, shaped: &Result<Shaped, Unshaped>) -> Transformed {
    let Ok(shaped) = shaped else { return Transformed::default() };
    let changes = match &shaped.outcome {
        Outcome::Changed(changed) => changes::between(event, changed),
        Outcome::Unchanged | Outcome::Dropped { .. } => Vec::new(),
    };
    Transformed { changes, console: shaped.console.clone() }
}

/// What a transform leaves for the filter behind it.
fn left<'a>(event: &'a Event, shaped: Option<&'a Result<Shaped, Unshaped>>) -> Option<&'a Event> {
    match shaped.map(|shaped| shaped.as_ref().map(|shaped| &shaped.outcome)) {
        None | Some(Ok(Outcome::Unchanged)) => Some(event),
        Some(Ok(Outcome::Changed(changed))) => Some(changed),
        Some(Ok(Outcome::Dropped { .. }) | Err(_)) => None,
    }
}

#[cfg(test)]
mod tests;
