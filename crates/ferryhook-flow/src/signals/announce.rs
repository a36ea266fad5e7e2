//! Says something: to the people of an account, and as an event of its own source.

use std::sync::Arc;

use ferryhook_core::event::Status;
use ferryhook_core::operational::{Operational, Quota};
use ferryhook_core::{Account, Alert, Id, Source, Timestamp, User, limits};
use ferryhook_store::repositories::Announcement;
use ferryhook_store::{StoreError, Stored};

use crate::courier::Courier;
use crate::ingest::HandOver;
use crate::routes::Route;

/// What is ready to be committed, and who gets the event then.
pub(crate) struct Prepared {
    pub(crate) announcement: Announcement,
    pub(crate) users: Vec<Id<User>>,
    route: Option<Arc<Route>>,
}

impl Courier {
    /// Says something that is not told together with anything else.
    pub async fn announce(
        &self,
        account: Id<Account>,
        said: &Operational,
    ) -> Result<(), StoreError> {
        let prepared = self.prepare(account, said, true).await?;
        self.inner().store.alerts().say(&prepared.announcement).await?;
        self.announced(prepared);
        Ok(())
    }

    /// Says that most of a quota is used, or all of it: each once in its period, however often
    /// and by however many it is called. Tells whether it was said now.
    pub async fn quota_crossed(
        &self,
        account: Id<Account>,
        quota: Quota<'_>,
    ) -> Result<bool, StoreError> {
        let step = if quota.used >= quota.limit { 100 } else { 80 };
        let subject = format!("quota-{}-{}-{step}", quota.name, quota.period);
        let alerts = self.inner().store.alerts();
        if alerts.find(account, &subject).await?.is_some() {
            return Ok(false);
        }
        let said = Operational::quota(quota);
        let prepared = self.prepare(account, &said, true).await?;
        let now = self.inner().now().wall;
        let fired = Alert::fired(account, &subject, quota.name, now);
        // Nothing ends it but its period.
        let alert = Alert { reason: Some(said.title.clone()), ..fired.recovered(now) };
        let turned = alerts.turn(None, &alert, &prepared.announcement).await?;
        if turned.is_some() {
            self.announced(prepared);
        }
        Ok(turned.is_some())
    }

    /// Everything that has to be written to say it. Without `as_event` only people hear of it.
    pub(crate) async fn prepare(
        &self,
        account: Id<Account>,
        said: &Operational,
        as_event: bool,
    ) -> Result<Prepared, StoreError> {
        let inner = self.inner();
        let users = inner.store.members().keepers(account).await?;
        let notify = |user: &Id<User>| said.notification(account, *user, &inner.env);
        let notifications = users.iter().map(notify).collect();
        let (source, route) = match as_event {
            true => self.own_source(account).await?,
            false => (None, None),
        };
        let event = source.map(|source| {
            let now = inner.now().wall;
            let kept = Timestamp::from_seconds((now + limits::ALERT_KEPT).as_seconds());
            let expires_at = route.as_ref().map_or(Some(kept), |route| route.plan.expiry(now));
            let mut event = said.event(&source, expires_at, &inner.env);
            if event.status == Status::Received && route.as_ref().is_some_and(|r| r.ways.is_empty())
            {
                event.status = Status::Filtered;
                event.processed_at = event.pending_since.take();
            }
            event
        });
        Ok(Prepared { announcement: Announcement { event, notifications }, users, route })
    }

    /// It is written: whoever asked for it gets it.
    pub(crate) fn announced(&self, prepared: Prepared) {
        let Prepared { announcement, route, .. } = prepared;
        let (Some(event), Some(route)) = (announcement.event, route) else { return };
        if event.pending_since.is_some() {
            // A new row has been written once. Without a route the sweep finds it.
            self.take(Stored { record: event, revision: 1 }, route);
        }
    }

    /// The source that Ferryhook speaks through in this account, made when it is first needed.
    async fn own_source(
        &self,
        account: Id<Account>,
    ) -> Result<(Option<Source>, Option<Arc<Route>>), StoreError> {
        let inner = self.inner();
        let id = Source::own_id(account);
        if let Some(route) = inner.routes.find(id).await? {
            return Ok((Some(route.source.clone()), Some(route)));
        }
        let Some(found) = inner.store.accounts().find(account).await? else {
            return Ok((None, None));
        };
        let own = Source::own(&found, inner.now().wall);
        match inner.store.sources().create(&own).await {
            Ok(()) => {}
            Err(error) if error.is_refused() => {} // another was faster
            Err(error) => return Err(error),
        }
        inner.routes.forget(id);
        let route = inner.routes.find(id).await?;
        let source = route.as_ref().map_or(own, |route| route.source.clone());
        Ok((Some(source), route))
    }
}
