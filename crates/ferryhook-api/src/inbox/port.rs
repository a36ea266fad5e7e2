//! The port to the inbox, where items are leased and settled.
//!
//! Whoever calls has proved that the account is theirs; what belongs to another is unknown behind
//! this port, too. Lists are read from the store and do not come this way.

use ferryhook_core::inbox::{Group, Leased, Replied, Reply, Token, Wanted};
use ferryhook_core::{Account, Event, Id};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::sleep;

use crate::limits;
use crate::works::{Doing, Nobody};

pub trait Fetching: Send + Sync {
    /// As many as are there, at most as many as wanted. Waits for the first as long as it may.
    fn lease<'a>(&'a self, account: Id<Account>, wanted: &'a Wanted) -> Doing<'a, Vec<Leased>>;

    /// What became of the reply to each of these leases, in order. What was heard is durable.
    fn reply<'a>(
        &'a self,
        account: Id<Account>,
        tokens: &'a [Token],
        reply: &'a Reply,
    ) -> Doing<'a, Vec<Replied>>;

    /// The same for an event as a whole, whoever has leased it: the group's item of it.
    fn reply_to<'a>(
        &'a self,
        event: &'a Event,
        group: &'a Group,
        reply: &'a Reply,
    ) -> Doing<'a, Replied>;

    /// Resolves when something has come into the group since the call. It may also resolve for
    /// nothing, and on a store that others share it does so now and then.
    fn arrival<'a>(&'a self, account: Id<Account>, group: &'a Group) -> BoxFuture<'a, ()>;
}

/// Where no data plane runs nothing is leased. What comes is seen by looking now and then.
impl Fetching for Nobody {
    fn lease<'a>(&'a self, _: Id<Account>, _: &'a Wanted) -> Doing<'a, Vec<Leased>> {
        Self::answer()
    }

    fn reply<'a>(
        &'a self,
        _: Id<Account>,
        _: &'a [Token],
        _: &'a Reply,
    ) -> Doing<'a, Vec<Replied>> {
        Self::answer()
    }

    fn reply_to<'a>(&'a self, _: &'a Event, _: &'a Group, _: &'a Reply) -> Doing<'a, Replied> {
        Self::answer()
    }

    fn arrival<'a>(&'a self, _: Id<Account>, _: &'a Group) -> BoxFuture<'a, ()> {
        sleep(limits::INBOX_LOOK_EVERY).boxed()
    }
}
