//! A trial: the rules that a connection has against rules that it might have.

use ferryhook_core::explained::{Compared, Verdict};
use ferryhook_core::{Connection, Event, Timestamp};

use super::{changes, judge};
use crate::routes::Way;
use crate::scripts::Scripts;

#[derive(Debug)]
pub struct Trial {
    before: Way,
    after: Way,
}

impl Trial {
    /// `after` is the same connection with other rules.
    pub fn new(before: Connection, after: Connection, now: Timestamp) -> Self {
        Self { before: Way::new(before, None, now), after: Way::new(after, None, now) }
    }

    pub async fn compare(&self, event: &Event, scripts: &Scripts) -> Compared {
        let (before, was) = judge(event, &self.before, scripts, |_| ()).await;
        let (after, would) = judge(event, &self.after, scripts, |_| ()).await;
        let changes = match (&before, &after, &was, &would) {
            // Neither has touched it.
            (_, _, None, None) => Vec::new(),
            (Verdict::Delivered, Verdict::Delivered, was, would) => {
                let (was, would) = (was.as_deref(), would.as_deref());
                changes::between(was.unwrap_or(event), would.unwrap_or(event))
            }
            _ => Vec::new(),
        };
        Compared { before, after, changes }
    }
}
