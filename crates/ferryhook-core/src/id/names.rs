//! Ids by the noun they name, for types that are described to clients: what derives a description
//! does not see through a type with parameters.

use super::Id;

pub type AccountId = Id<crate::Account>;
pub type ActivityId = Id<crate::Activity>;
pub type CliSessionId = Id<crate::CliSession>;
pub type ConnectionId = Id<crate::Connection>;
pub type ErasureId = Id<crate::Erasure>;
pub type EventId = Id<crate::Event>;
pub type HookId = Id<crate::Hook>;
pub type InvitationId = Id<crate::Invitation>;
pub type KeyId = Id<crate::Key>;
pub type NotificationId = Id<crate::Notification>;
pub type RejectionId = Id<crate::Rejection>;
pub type ReplayId = Id<crate::Replay>;
pub type SourceId = Id<crate::Source>;
pub type UserId = Id<crate::User>;
