//! Rehearse: what a connection would do with an event, up to a request that is really sent.
//!
//! Asked for by people who try a connection out. Nothing is planned, stored or counted, and no
//! lane hears of it: a rehearsal is not a delivery.

use ferryhook_core::explained::Verdict;
use ferryhook_core::{Attempt, Connection, Event};

use super::Courier;
use super::carry::unsent;
use crate::explain;
use crate::plan;
use crate::routes::Way;

/// What would leave, or has left.
#[derive(Debug)]
pub struct Rehearsed {
    pub event: Event,
    /// Present if it was sent.
    pub attempt: Option<Attempt>,
}

impl Courier {
    /// Nothing, if the connection does not want the event or can make nothing of it. With `deliver`
    /// the request is sent, once.
    pub async fn rehearse(
        &self,
        connection: Connection,
        event: &Event,
        deliver: bool,
    ) -> Option<Rehearsed> {
        let inner = &self.0;
        let now = inner.env.now();
        let way = Way::new(connection, None, now);
        let (verdict, shaped) = explain::judge(event, &way, &inner.scripts, |_| ()).await;
        if verdict != Verdict::Delivered {
            return None;
        }
        let came = event;
        let event = shaped.map_or_else(|| came.clone(), |shaped| *shaped);
        if !deliver {
            return Some(Rehearsed { event, attempt: None });
        }
        let delivery = plan::delivery(&event, &way, now, &inner.env);
        let made = self.send(&event, came, &delivery, &way).await.unwrap_or_else(|| {
            let error = "nobody listens here at the moment".to_owned();
            unsent(&event, &delivery, &way, now, error)
        });
        Some(Rehearsed { event, attempt: Some(made.attempt) })
    }
}
