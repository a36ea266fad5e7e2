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
use ferryhook_core::transform::Outcome;
use ferryhook_core::{Connection, Event, Timestamp};

use crate::routes::Way;
use crate::scripts::Scripts;
use crate::shape::{self, Shape};

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
    let (verdict, _) = judge(event, way, scripts).await;
    let mut explained = Explained {
        connection_id: *id,
        connection: name.clone(),
        verdict,
        event_types: event_types.clone(),
        pipeline_order: *pipeline_order,
        filter: None,
        transform: None,
    };
    let filter = way.filter().ok().flatten();
    match pipeline_order {
        PipelineOrder::FilterFirst => {
            explained.filter = filter.map(|filter| filter.explain(&Seen::of(event)));
            let passed = explained.filter.as_ref().is_none_or(|clauses| clauses.holds);
            if passed && explained.verdict != Verdict::OtherType {
                explained.transform = transformed(event, way, scripts).await.map(|(told, _)| told);
            }
        }
        PipelineOrder::TransformFirst if explained.verdict != Verdict::OtherType => {
            let (told, seen) = match transformed(event, way, scripts).await {
                None => (None, After::AsItCame),
                Some((told, after)) => (Some(told), after),
            };
            explained.transform = told;
            explained.filter = match &seen {
                After::AsItCame => filter.map(|filter| filter.explain(&Seen::of(event))),
                After::Changed(event) => filter.map(|filter| filter.explain(&Seen::of(event))),
                After::Nothing => None,
            };
        }
        PipelineOrder::TransformFirst => {}
    }
    explained
}

/// What would be done, and with which event if not with this one.
pub(crate) async fn judge(
    event: &Event,
    way: &Way,
    scripts: &Scripts,
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
    match shape::shape(event, way, scripts).await {
        Shape::AsItCame => (Verdict::Delivered, None),
        Shape::Changed(changed) => (Verdict::Delivered, Some(changed)),
        Shape::Unwanted(Cancel::TransformDropped, reason) => (Verdict::Dropped { reason }, None),
        Shape::Unwanted(..) => (Verdict::Filtered, None),
        Shape::Failed(reason) | Shape::NotNow(reason) => (Verdict::Failed { reason }, None),
    }
}

/// What a transform leaves.
enum After {
    AsItCame,
    Changed(Box<Event>),
    /// It was dropped, or the transform failed.
    Nothing,
}

/// `None` without a transform.
async fn transformed(event: &Event, way: &Way, scripts: &Scripts) -> Option<(Transformed, After)> {
    let Ok(shaped) = shape::transformed(event, way, scripts).await? else {
        return Some((Transformed::default(), After::Nothing)); // the verdict says why
    };
    let (changes, after) = match shaped.outcome {
        Outcome::Unchanged => (Vec::new(), After::AsItCame),
        Outcome::Changed(changed) => (changes::between(event, &changed), After::Changed(changed)),
        Outcome::Dropped { .. } => (Vec::new(), After::Nothing),
    };
    Some((Transformed { changes, console: shaped.console }, after))
}

#[cfg(test)]
mod tests;
