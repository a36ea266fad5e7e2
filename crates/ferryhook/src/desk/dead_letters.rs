//! What was given up: events that could not be processed, and deliveries that failed.

use ferryhook_core::delivery::State;
use ferryhook_core::event::Status;
use ferryhook_core::replay::Filter;
use ferryhook_core::{Account, Delivery, Event, Id, limits};
use ferryhook_flow::dead_letters;
use ferryhook_flow::replay::{ReplayError, Search};
use ferryhook_store::{Slice, Window};

use super::view::{DeliveryLine, DeliveryList, EventLine, EventList, Redriven};
use super::{Complaint, Desk};

/// Events that are looked at for one answer, and how many at a time.
const LOOKED_AT_MAX: usize = 20_000;
const PAGE: usize = 200;
/// Dead letters that are driven again for one answer.
const REDRIVEN_MAX: usize = 10_000;
/// How many reasons are told.
const REASONS_MAX: usize = 20;
/// Whose deliveries may have been given up. Of the last two only some have.
const SUSPECTS: [Status; 3] = [Status::Failed, Status::Retrying, Status::Held];

impl Desk {
    /// Newest first.
    pub(super) async fn list_dead_letters(&self, limit: usize) -> Result<EventList, Complaint> {
        let Some(account) = self.account().await? else {
            return Ok(EventList { data: Vec::new(), has_more: false });
        };
        let limit = limit.clamp(1, limits::PAGE_MAX);
        let (mut events, has_more) = self.dead_letters(account, limit + 1).await?;
        let has_more = has_more || events.len() > limit;
        events.truncate(limit);
        let names = self.source_names(events.iter().map(|event| event.source_id)).await?;
        let line = |event: &Event| EventLine::new(event, names.get(&event.source_id).cloned());
        Ok(EventList { data: events.iter().map(line).collect(), has_more })
    }

    /// And whether some were not looked at.
    async fn dead_letters(
        &self,
        account: Id<Account>,
        most: usize,
    ) -> Result<(Vec<Event>, bool), Complaint> {
        let mut events = Vec::new();
        let mut slice = Slice::newest_first().limit(PAGE);
        for _ in 0..LOOKED_AT_MAX / PAGE {
            let listed = self.store.events();
            let page = listed.list_dead_letters(account, Window::ALWAYS, slice.clone()).await?;
            events.extend(page.rows.into_iter().map(|row| row.record));
            match page.next {
                None => return Ok((events, false)),
                Some(_) if events.len() >= most => break,
                next => slice = slice.after(next),
            }
        }
        Ok((events, true))
    }

    /// By event and connection, those given up last first.
    pub(super) async fn list_failures(&self, limit: usize) -> Result<DeliveryList, Complaint> {
        let Some(account) = self.account().await? else {
            return Ok(DeliveryList { data: Vec::new(), has_more: false });
        };
        let limit = limit.clamp(1, limits::PAGE_MAX);
        let (mut failed, mut has_more) = (Vec::new(), false);
        for status in SUSPECTS {
            let (some, more) = self.failures(account, status, limit).await?;
            failed.extend(some);
            has_more |= more;
        }
        failed.sort_by_key(|one: &Delivery| std::cmp::Reverse(one.settled_at()));
        has_more |= failed.len() > limit;
        failed.truncate(limit);
        let names = self.connection_names(failed.iter().map(|one| one.connection_id)).await?;
        let line = |one: &Delivery| DeliveryLine::new(one, names.get(&one.connection_id).cloned());
        Ok(DeliveryList { data: failed.iter().map(line).collect(), has_more })
    }

    async fn failures(
        &self,
        account: Id<Account>,
        status: Status,
        most: usize,
    ) -> Result<(Vec<Delivery>, bool), Complaint> {
        let filter = Filter { status: Some(status), ..Filter::default() };
        let refused =
            |error: ferryhook_core::event_types::BadPattern| Complaint::Refused(error.to_string());
        let mut search = Search::newest_first(account, &filter).map_err(refused)?;
        let (mut failed, mut looked_at) = (Vec::new(), 0);
        while failed.len() <= most && looked_at < LOOKED_AT_MAX && !search.is_over() {
            let found = search.look(&self.store, PAGE).await?;
            looked_at += found.looked_at.max(1);
            for event in found.events {
                let page = Slice::default().limit(limits::PAGE_MAX);
                let page = self.store.deliveries().list_by_event(event.id, page).await?;
                let given_up = |one: &Delivery| matches!(one.state, State::Failed { .. });
                failed.extend(page.rows.into_iter().map(|row| row.record).filter(given_up));
            }
        }
        Ok((failed, !search.is_over()))
    }

    pub(super) async fn redrive(&self, ids: Vec<Id<Event>>) -> Result<Redriven, Complaint> {
        let mut told = Redriven { waits_for_server: self.courier.is_none(), ..Redriven::default() };
        if let [id] = ids[..] {
            self.redrive_one(id).await?;
            return Ok(Redriven { redriven: 1, ..told });
        }
        let ids = match (ids.is_empty(), self.account().await?) {
            (false, _) => ids,
            (true, None) => Vec::new(),
            (true, Some(account)) => {
                let (events, has_more) = self.dead_letters(account, REDRIVEN_MAX).await?;
                told.has_more = has_more;
                events.iter().map(|event| event.id).collect()
            }
        };
        for id in ids {
            match self.redrive_one(id).await {
                Ok(()) => told.redriven += 1,
                Err(error) if told.refused.len() < REASONS_MAX => {
                    told.refused.push(error.to_string());
                }
                Err(_) => {}
            }
        }
        Ok(told)
    }

    async fn redrive_one(&self, id: Id<Event>) -> Result<(), ReplayError> {
        match &self.courier {
            Some(courier) => courier.redrive(id).await,
            None => dead_letters::redrive(&self.store, id).await.map(drop),
        }
    }
}
