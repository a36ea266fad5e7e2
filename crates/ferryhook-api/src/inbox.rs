//! The inbox: events that wait until somebody fetches them.
//!
//! One lists what is there, or leases some of it to work on and replies to each lease: done, not
//! done, still at it. All of this is traffic of the account and no change of what it has, so none
//! of it stands in the audit log. Leasing and replying is done behind [`Fetching`].

pub mod lease;
pub mod list;
mod port;
pub mod reply;
mod span;
mod view;
mod waiters;

use ferryhook_core::inbox::Group;

use crate::call::ApiResult;
use crate::problem::Problem;

pub use port::Fetching;
pub use span::{Span, When};
pub use view::{InboxItem, LeasedItem, Leases, Replies, ReplyLine, ReplyResult};
pub use waiters::Waiters;

/// The one that was named, or the one that everybody is in.
fn group(pointer: &str, named: Option<&str>) -> ApiResult<Group> {
    let Some(name) = named else { return Ok(Group::default()) };
    name.parse().map_err(|error| Problem::invalid(pointer, format!("{error}")))
}

#[cfg(test)]
mod tests;
