//! Where the inbox is fetched from: the courier of this server.

use ferryhook_api::inbox::Fetching;
use ferryhook_api::works::{Doing, Nobody};
use ferryhook_core::inbox::{Group, Leased, Replied, Reply, Token, Wanted};
use ferryhook_core::{Account, Event, Id};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Desk;

impl Fetching for Desk {
    fn lease<'a>(&'a self, account: Id<Account>, wanted: &'a Wanted) -> Doing<'a, Vec<Leased>> {
        let Some(courier) = &self.courier else { return Nobody.lease(account, wanted) };
        async move { Ok(courier.lease_items(account, wanted).await?) }.boxed()
    }

    fn reply<'a>(
        &'a self,
        account: Id<Account>,
        tokens: &'a [Token],
        reply: &'a Reply,
    ) -> Doing<'a, Vec<Replied>> {
        let Some(courier) = &self.courier else { return Nobody.reply(account, tokens, reply) };
        async move { Ok(courier.reply_to_leases(account, tokens, reply).await?) }.boxed()
    }

    fn reply_to<'a>(
        &'a self,
        event: &'a Event,
        group: &'a Group,
        reply: &'a Reply,
    ) -> Doing<'a, Replied> {
        let Some(courier) = &self.courier else { return Nobody.reply_to(event, group, reply) };
        async move { Ok(courier.reply_to_event(event, group, reply).await?) }.boxed()
    }

    fn arrival<'a>(&'a self, account: Id<Account>, group: &'a Group) -> BoxFuture<'a, ()> {
        match &self.courier {
            Some(courier) => courier.arrival(account, group).boxed(),
            None => Nobody.arrival(account, group),
        }
    }
}
