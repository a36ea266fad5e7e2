//! What can be asked at the desk, as it travels through the control socket. Sources and connections
//! are named as people name them: by id or by name.

use ferryhook_core::event::Status;
use ferryhook_core::replay::Position;
use ferryhook_core::{Event, Id, Replay, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asked {
    /// Answered with [`EventList`](super::view::EventList).
    ListEvents(Wanted),
    /// Answered with [`EventStory`](super::view::EventStory).
    ShowEvent(Shown),
    /// Answered with [`ReplayTold`](super::view::ReplayTold).
    Replay(ReplayOne),
    /// Answered with [`Count`](ferryhook_flow::replay::Count).
    CountReplay(ReplayMany, Option<Position>),
    /// Answered with [`ReplayJob`](super::view::ReplayJob), as are the next but one and the last.
    ReplayMany(ReplayMany),
    /// Answered with [`ReplayList`](super::view::ReplayList).
    ListReplays {
        limit: usize,
    },
    ShowReplay(Id<Replay>),
    CancelReplay(Id<Replay>),
    /// Answered with [`EventList`](super::view::EventList).
    ListDeadLetters {
        limit: usize,
    },
    /// Answered with [`DeliveryList`](super::view::DeliveryList).
    ListFailures {
        limit: usize,
    },
    /// These, or all when there are none. Answered with [`Redriven`](super::view::Redriven).
    Redrive(Vec<Id<Event>>),
}

/// Which events, newest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    pub source: Option<String>,
    pub status: Option<Status>,
    pub event_type: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub limit: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    pub event: Id<Event>,
    pub with_body: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayOne {
    pub event: Id<Event>,
    /// To all that want it when there are none.
    pub to: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayMany {
    /// These, or those that are wanted when there are none.
    pub ids: Vec<Id<Event>>,
    pub wanted: Wanted,
    pub to: Vec<String>,
    pub rate_per_second: u32,
}
