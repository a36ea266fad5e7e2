//! What can be asked at the desk, as it travels through the control socket. Sources and connections
//! are named as people name them: by id or by name.

use ferryhook_api::connections::Place;
use ferryhook_core::event::Status;
use ferryhook_core::rejection::Cause;
use ferryhook_core::replay::Position;
use ferryhook_core::{Account, Erasure, Event, Id, Rejection, Replay, Timestamp};
use serde::{Deserialize, Serialize};

use super::audit::LogPlace;
use super::plans::PlanOrder;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asked {
    /// Answered with a page of [`EventLine`](ferryhook_api::events::EventLine).
    ListEvents(Wanted),
    /// Answered with [`EventStory`](ferryhook_api::events::EventStory).
    ShowEvent(Shown),
    /// Answered with [`Explanation`](ferryhook_api::events::Explanation).
    Explain(Id<Event>),
    /// Answered with [`Tried`](ferryhook_api::connections::Tried).
    WhatIf(WhatIf),
    /// Answered with a page of [`RejectionLine`](ferryhook_api::rejections::RejectionLine).
    ListRejections(Refused),
    /// Answered with [`RejectionStory`](ferryhook_api::rejections::RejectionStory).
    ShowRejection {
        source: String,
        id: Id<Rejection>,
    },
    /// Answered with [`Readmitted`](ferryhook_api::rejections::Readmitted).
    Readmit(Readmit),
    /// Answered with [`ReplayTold`](ferryhook_api::replays::ReplayTold).
    Replay(ReplayOne),
    /// Answered with [`Count`](ferryhook_store::search::Count).
    CountReplay(ReplayMany, Option<Position>),
    /// Answered with [`ReplayJob`](ferryhook_api::replays::ReplayJob), as are the next but one and the last.
    ReplayMany(ReplayMany),
    /// Answered with a page of [`ReplayJob`](ferryhook_api::replays::ReplayJob).
    ListReplays {
        limit: usize,
    },
    ShowReplay(Id<Replay>),
    CancelReplay(Id<Replay>),
    /// Answered with [`Count`](ferryhook_store::search::Count).
    CountErasure(Erase, Option<Position>),
    /// Answered with [`ErasureJob`](ferryhook_api::erasures::ErasureJob), as are the last two.
    Erase(Erase),
    /// Answered with a page of [`ErasureJob`](ferryhook_api::erasures::ErasureJob).
    ListErasures {
        limit: usize,
    },
    ShowErasure(Id<Erasure>),
    CancelErasure(Id<Erasure>),
    /// Answered with a page of [`EventLine`](ferryhook_api::events::EventLine).
    ListDeadLetters {
        limit: usize,
    },
    /// Answered with a page of [`DeliveryLine`](ferryhook_api::events::DeliveryLine).
    ListFailures {
        limit: usize,
    },
    /// The audit log of this account, or all of them. Answered with [`Logs`](super::Logs).
    VerifyLogs {
        account: Option<Id<Account>>,
        from: Option<LogPlace>,
    },
    /// These, or all when there are none. Answered with [`Redriven`](ferryhook_api::dead_letters::Redriven).
    Redrive(Vec<Id<Event>>),
    /// Answered as each of them says.
    Plans(PlanOrder),
}

/// What other rules would do with the newest events of a connection's source.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhatIf {
    pub connection: String,
    /// What complaints call the file.
    pub file: String,
    pub rules: String,
    /// At most so many events are looked at.
    pub last: usize,
    /// And so many of those that differ are shown.
    pub examples: usize,
    /// Goes on behind this one.
    #[serde(default)]
    pub after: Option<Place>,
}

/// What a source refused, newest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    pub source: String,
    pub cause: Option<Cause>,
    pub limit: usize,
}

/// Lets in what was refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readmit {
    pub source: String,
    /// These, or the newest when there are none.
    pub ids: Vec<Id<Rejection>>,
    pub cause: Option<Cause>,
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
    /// Somewhere in their body or headers.
    #[serde(default)]
    pub text: Option<String>,
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

/// What is to be gone for good.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Erase {
    /// These, or what the filter means when there are none.
    pub ids: Vec<Id<Event>>,
    pub filter: Option<String>,
    pub source: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
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
