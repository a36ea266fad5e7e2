//! Shape: what an event becomes on its way over one connection, before it is signed and sent.
//!
//! Asked by the courier before each attempt, with the rules as they are then: a transform that is
//! mended counts for what already waits. The answer depends on event and rules alone, so asking
//! twice comes to the same. It sends nothing and stores nothing.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferryhook_core::Event;
use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::delivery::Cancel;
use ferryhook_core::filter::Seen;
use ferryhook_core::transform::{Outcome, Shaped, TransformError};
use futures_util::FutureExt;

use crate::routes::Way;
use crate::scripts::Scripts;

#[derive(Debug)]
pub(crate) enum Shape {
    AsItCame,
    Changed(Box<Event>),
    /// It ends here, and that is what the rules want.
    Unwanted(Cancel, String),
    /// The rules could not be carried out; why, in a sentence.
    Failed(String),
    /// Nor now, because there is too much else to do. Nobody's rules are to blame.
    NotNow(String),
}

/// Rules that crash have failed, and cost nobody but their own event anything.
pub(crate) async fn shape(event: &Event, way: &Way, scripts: &Scripts) -> Shape {
    match way.transform() {
        Ok(None) => {
            let shaped = catch_unwind(AssertUnwindSafe(|| finished(event, way, None)));
            shaped.unwrap_or_else(crashed)
        }
        _ => survived(async { finished(event, way, transformed(event, way, scripts).await) }).await,
    }
}

async fn survived(shaping: impl Future<Output = Shape>) -> Shape {
    Box::pin(AssertUnwindSafe(shaping).catch_unwind()).await.unwrap_or_else(crashed)
}

fn crashed(_: Box<dyn Any + Send>) -> Shape {
    Shape::Failed("the connection's rules crashed on our side".to_owned())
}

/// What it comes to when the transform has had its turn.
pub(crate) fn finished(
    event: &Event,
    way: &Way,
    shaped: Option<Result<Shaped, Unshaped>>,
) -> Shape {
    let changed = match shaped {
        None => None,
        Some(Ok(Shaped { outcome, .. })) => match outcome {
            Outcome::Unchanged => None,
            Outcome::Changed(changed) => Some(changed),
            Outcome::Dropped { reason } => {
                return Shape::Unwanted(Cancel::TransformDropped, reason);
            }
        },
        Some(Err(Unshaped { reason, is_ours: true })) => return Shape::NotNow(reason),
        Some(Err(Unshaped { reason, is_ours: false })) => return Shape::Failed(reason),
    };
    if way.connection.pipeline_order == PipelineOrder::TransformFirst {
        match way.passes(&Seen::of(changed.as_deref().unwrap_or(event))) {
            Ok(true) => {}
            Ok(false) => {
                let reason = "the filter does not want what the transform made of it".to_owned();
                return Shape::Unwanted(Cancel::Filtered, reason);
            }
            Err(error) => return Shape::Failed(format!("the filter cannot be read: {error}")),
        }
    }
    let sent = changed.or_else(|| event.with_body().map(Box::new));
    sent.map_or(Shape::AsItCame, Shape::Changed)
}

/// Why a transform made nothing of an event.
#[derive(Debug)]
pub(crate) struct Unshaped {
    pub(crate) reason: String,
    pub(crate) is_ours: bool,
}

/// `None` where there is no transform.
pub(crate) async fn transformed(
    event: &Event,
    way: &Way,
    scripts: &Scripts,
) -> Option<Result<Shaped, Unshaped>> {
    let transform = match way.transform() {
        Ok(transform) => transform?,
        Err(error) => {
            let reason = format!("the transform cannot be read: {error}");
            return Some(Err(Unshaped { reason, is_ours: false }));
        }
    };
    let failed = |error: TransformError| {
        let is_ours = error.is_ours();
        Unshaped { reason: format!("the transform failed: {error}"), is_ours }
    };
    let written = event.with_body();
    let event = written.as_ref().unwrap_or(event);
    let shaped = scripts.run(way.connection.id, transform.clone(), event).await;
    Some(shaped.map_err(failed))
}

#[cfg(test)]
mod tests;
