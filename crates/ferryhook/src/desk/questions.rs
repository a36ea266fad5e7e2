//! What the command line asks, for the owner of the installation. The answers are those of the API.

use ferryhook_api::connections::{self, Extent, Tried};
use ferryhook_api::dead_letters::{self, Redriven, SUSPECTS};
use ferryhook_api::events::list::{self, Only};
use ferryhook_api::events::{self, DeliveryLine, EventLine, EventStory, Explanation, Text};
use ferryhook_api::manifest::Rules;
use ferryhook_api::page::Page;
use ferryhook_api::rejections::{self, Readmitted, RejectionLine, RejectionStory};
use ferryhook_api::replays::{self, ReplayJob, ReplayTold};
use ferryhook_api::{limits as api_limits, owner};
use ferryhook_core::replay::{Filter, Position, Selection};
use ferryhook_core::{Account, Delivery, Event, Id, Rejection, Replay, Source, limits};
use ferryhook_store::search::{self, Count};
use ferryhook_store::{Page as Rows, Slice, Stored};
use serde::Serialize;
use serde_json::Value;

use super::orders::{Asked, Readmit, Refused, ReplayMany, ReplayOne, Shown, Wanted, WhatIf};
use super::{Complaint, Desk};

/// Events, or rejections, that are looked at for one answer. Nobody else waits for it.
const LOOKED_AT_MAX: usize = 20_000;
/// Dead letters that are driven again for one answer.
const REDRIVEN_MAX: usize = 10_000;
/// Of a list; each takes hundreds of signatures.
const DIAGNOSED_MAX: usize = 50;

pub(super) type Answer<T> = Result<T, Complaint>;

impl Desk {
    pub async fn answer(&self, asked: Asked) -> Answer<Value> {
        // Nobody's, if nothing has needed an owner yet: then there is nothing to be found either.
        let owner = owner::find(&self.store).await?;
        let account = owner.map_or_else(|| Id::new(&self.env), |owner| owner.account);
        match asked {
            Asked::ListEvents(wanted) => said(self.list_events(account, &wanted).await?),
            Asked::ShowEvent(shown) => said(self.show_event(account, shown).await?),
            Asked::Explain(id) => said(self.explain_event(account, id).await?),
            Asked::WhatIf(asked) => said(self.what_if(account, asked).await?),
            Asked::ListRejections(wanted) => said(self.list_rejections(account, &wanted).await?),
            Asked::ShowRejection { source, id } => {
                said(self.show_rejection(account, &source, id).await?)
            }
            Asked::Readmit(order) => said(self.readmit_some(account, &order).await?),
            Asked::Replay(order) => said(self.replay_one(account, &order).await?),
            Asked::CountReplay(order, after) => said(self.count(account, &order, after).await?),
            Asked::ReplayMany(_) if owner.is_none() => {
                Err(Complaint::NotFound("there is nothing here yet to replay".to_owned()))
            }
            Asked::ReplayMany(order) => said(self.replay_many(account, &order).await?),
            Asked::ListReplays { limit } => said(self.list_replays(account, limit).await?),
            Asked::ShowReplay(id) => said(self.show_replay(account, id).await?),
            Asked::CancelReplay(id) => said(self.cancel_replay(account, id).await?),
            Asked::CountErasure(order, after) => {
                said(self.count_erasure(account, &order, after).await?)
            }
            Asked::Erase(_) if owner.is_none() => {
                Err(Complaint::NotFound("there is nothing here yet to erase".to_owned()))
            }
            Asked::Erase(order) => said(self.erase(account, &order).await?),
            Asked::ListErasures { limit } => said(self.list_erasures(account, limit).await?),
            Asked::ShowErasure(id) => said(self.show_erasure(account, id).await?),
            Asked::CancelErasure(id) => said(self.cancel_erasure(account, id).await?),
            Asked::ListDeadLetters { limit } => said(self.list_dead_letters(account, limit).await?),
            Asked::ListFailures { limit } => said(self.list_failures(account, limit).await?),
            Asked::VerifyLogs { account: only, from } => {
                said(self.verify_logs(account, only, from).await?)
            }
            Asked::Redrive(ids) => said(self.redrive_some(account, &ids).await?),
            Asked::Plans(order) => self.plans(order).await,
        }
    }

    async fn list_events(&self, account: Id<Account>, wanted: &Wanted) -> Answer<Page<EventLine>> {
        let wanted = list::Wanted {
            filter: self.filter(account, wanted).await?,
            only: match &wanted.text {
                Some(text) => Only::Having(Text::new(text)),
                None => Only::Everything,
            },
            slice: newest(wanted.limit),
            looked_at_max: LOOKED_AT_MAX,
        };
        self.shown(list::find(&self.store, account, &wanted).await?).await
    }

    async fn shown(&self, events: Rows<Event>) -> Answer<Page<EventLine>> {
        let (data, next) = list::shown(&self.store, events).await?;
        Ok(page(data, next.is_some()))
    }

    async fn filter(&self, account: Id<Account>, wanted: &Wanted) -> Answer<Filter> {
        let source_id = match &wanted.source {
            Some(text) => Some(self.find_source(account, text).await?.id),
            None => None,
        };
        Ok(Filter {
            source_id,
            status: wanted.status,
            event_type: wanted.event_type.clone(),
            from: wanted.from,
            to: wanted.to,
        })
    }

    async fn event(&self, account: Id<Account>, id: Id<Event>) -> Answer<Event> {
        let found = self.store.events().find(id).await?.map(|found| found.record);
        let unknown = || {
            Complaint::NotFound(format!("there is no event {id}; if there was one, it has expired"))
        };
        found.filter(|event| event.account_id == account).ok_or_else(unknown)
    }

    async fn show_event(&self, account: Id<Account>, shown: Shown) -> Answer<EventStory> {
        let event = self.event(account, shown.event).await?;
        let body_bytes_max = if shown.with_body { usize::MAX } else { 0 };
        Ok(events::tell(&self.store, &event, body_bytes_max).await?)
    }

    async fn explain_event(&self, account: Id<Account>, id: Id<Event>) -> Answer<Explanation> {
        let event = self.event(account, id).await?;
        Ok(events::explain(&self.store, self.works(), &event).await?)
    }

    async fn what_if(&self, account: Id<Account>, asked: WhatIf) -> Answer<Tried> {
        let rules = Rules::parse(&asked.rules).map_err(|complaints| {
            let lines = complaints.iter().map(|complaint| format!("{}:{complaint}", asked.file));
            Complaint::Refused(lines.collect::<Vec<_>>().join("\n"))
        })?;
        let connection = self.find_connection(account, &asked.connection).await?;
        let WhatIf { last, examples, after, .. } = asked;
        let extent = Extent { events: last, examples, after };
        let (store, works) = (&self.store, self.works());
        Ok(connections::what_if(store, works, &connection, &rules, extent).await?)
    }

    async fn list_rejections(
        &self,
        account: Id<Account>,
        wanted: &Refused,
    ) -> Answer<Page<RejectionLine>> {
        let source = self.find_source(account, &wanted.source).await?;
        let slice = newest(wanted.limit);
        let found =
            rejections::find(&self.store, source.id, wanted.cause, slice, LOOKED_AT_MAX).await?;
        let sources = rejections::sources_of(&self.store, account).await?;
        let mut data = Vec::with_capacity(found.rows.len());
        for (place, one) in found.rows.iter().enumerate() {
            data.push(match place < DIAGNOSED_MAX {
                true => rejections::tell(self.works(), one, &sources).await?.line,
                false => RejectionLine::from(&one.record),
            });
        }
        Ok(page(data, found.next.is_some()))
    }

    async fn show_rejection(
        &self,
        account: Id<Account>,
        source: &str,
        id: Id<Rejection>,
    ) -> Answer<RejectionStory> {
        let source = self.find_source(account, source).await?;
        let rejection = self.rejection(source.id, id).await?;
        let sources = rejections::sources_of(&self.store, account).await?;
        Ok(rejections::tell(self.works(), &rejection, &sources).await?)
    }

    async fn rejection(&self, source: Id<Source>, id: Id<Rejection>) -> Answer<Stored<Rejection>> {
        let found = match id.made_at() {
            Some(at) => self.store.rejections().find(source, at, id).await?,
            None => None,
        };
        found.ok_or_else(|| Complaint::NotFound(format!("this source has no rejection {id}")))
    }

    async fn readmit_some(&self, account: Id<Account>, order: &Readmit) -> Answer<Readmitted> {
        if self.ingest.is_none() {
            let reason = "only a server takes requests in; start one on this data, and ask again";
            return Err(Complaint::Refused(reason.to_owned()));
        }
        let source = self.find_source(account, &order.source).await?;
        let (mut wanted, mut has_more) = (Vec::new(), false);
        for id in &order.ids {
            wanted.push(self.rejection(source.id, *id).await?);
        }
        if order.ids.is_empty() {
            let slice = newest(api_limits::READMITTED_MAX);
            let found =
                rejections::find(&self.store, source.id, order.cause, slice, LOOKED_AT_MAX).await?;
            (wanted, has_more) = (found.rows, found.next.is_some());
        }
        let told = rejections::let_in(&self.store, self.works(), wanted).await;
        Ok(Readmitted { has_more, ..told })
    }

    async fn replay_one(&self, account: Id<Account>, order: &ReplayOne) -> Answer<ReplayTold> {
        let event = self.event(account, order.event).await?;
        let to = self.find_connections(account, Some(event.source_id), &order.to).await?;
        Ok(replays::again(&self.store, self.works(), &event, &to).await?)
    }

    async fn count(
        &self,
        account: Id<Account>,
        order: &ReplayMany,
        after: Option<Position>,
    ) -> Answer<Count> {
        let selection = self.selection(account, order).await?;
        Ok(search::count(&self.store, account, &selection, after).await?)
    }

    async fn replay_many(&self, account: Id<Account>, order: &ReplayMany) -> Answer<ReplayJob> {
        let selection = self.selection(account, order).await?;
        let source = match &selection {
            Selection::Filter { filter } => filter.source_id,
            Selection::Ids { .. } => None,
        };
        let to = self.find_connections(account, source, &order.to).await?;
        let replay = Replay::new(account, selection, to, order.rate_per_second, &self.env)?;
        self.works().begin_replay(&self.store, &replay).await?;
        Ok(self.job(&replay))
    }

    async fn selection(&self, account: Id<Account>, order: &ReplayMany) -> Answer<Selection> {
        if !order.ids.is_empty() {
            return Ok(Selection::ids(order.ids.clone())?);
        }
        let filter = self.filter(account, &order.wanted).await?;
        Ok(Selection::filter(filter, self.env.now())?)
    }

    async fn list_replays(&self, account: Id<Account>, limit: usize) -> Answer<Page<ReplayJob>> {
        let found = self.store.replays().list_by_account(account, newest(limit)).await?;
        let data = found.rows.iter().map(|row| self.job(row)).collect();
        Ok(page(data, found.next.is_some()))
    }

    async fn show_replay(&self, account: Id<Account>, id: Id<Replay>) -> Answer<ReplayJob> {
        let found = self.store.replays().find_of(account, id).await?;
        Ok(self.job(&found.ok_or_else(|| unknown_replay(id))?.record))
    }

    /// One that is over stays as it is.
    async fn cancel_replay(&self, account: Id<Account>, id: Id<Replay>) -> Answer<ReplayJob> {
        let cancelled = self.store.replays().cancel(account, id).await?;
        Ok(self.job(&cancelled.ok_or_else(|| unknown_replay(id))?.record))
    }

    fn job(&self, replay: &Replay) -> ReplayJob {
        ReplayJob::new(replay, self.courier.is_none())
    }

    async fn list_dead_letters(
        &self,
        account: Id<Account>,
        limit: usize,
    ) -> Answer<Page<EventLine>> {
        let found = dead_letters::find(&self.store, account, newest(limit), LOOKED_AT_MAX).await?;
        self.shown(found).await
    }

    /// By event and connection, those given up last first.
    async fn list_failures(
        &self,
        account: Id<Account>,
        limit: usize,
    ) -> Answer<Page<DeliveryLine>> {
        let (mut failed, mut has_more) = (Vec::new(), false);
        for status in SUSPECTS {
            let slice = newest(limit);
            let store = &self.store;
            let (some, next) =
                dead_letters::failures(store, account, &[status], slice, LOOKED_AT_MAX).await?;
            failed.extend(some);
            has_more |= next.is_some();
        }
        failed.sort_by_key(|one: &Delivery| std::cmp::Reverse(one.settled_at()));
        has_more |= failed.len() > limit;
        failed.truncate(limit);
        Ok(page(dead_letters::shown(&self.store, &failed).await?, has_more))
    }

    /// These, or all when there are none.
    async fn redrive_some(&self, account: Id<Account>, ids: &[Id<Event>]) -> Answer<Redriven> {
        if let [id] = ids {
            let event = self.event(account, *id).await?;
            self.works().redrive(&self.store, &event).await?;
            let waits_for_server = self.courier.is_none();
            return Ok(Redriven { redriven: 1, waits_for_server, ..Redriven::default() });
        }
        let (mut events, mut has_more, mut refused) = (Vec::new(), false, Vec::new());
        for id in ids {
            match self.event(account, *id).await {
                Ok(event) => events.push(event),
                Err(error) => refused.push(error.to_string()),
            }
        }
        if ids.is_empty() {
            for found in self.all_dead_letters(account).await? {
                events.push(found);
            }
            has_more = events.len() >= REDRIVEN_MAX;
        }
        let mut told = dead_letters::drive_again(&self.store, self.works(), &events).await;
        refused.append(&mut told.refused);
        refused.truncate(api_limits::REASONS_MAX);
        Ok(Redriven { refused, has_more, ..told })
    }

    async fn all_dead_letters(&self, account: Id<Account>) -> Answer<Vec<Event>> {
        let mut events = Vec::new();
        let mut slice = newest(limits::PAGE_MAX);
        while events.len() < REDRIVEN_MAX {
            let found = dead_letters::find(&self.store, account, slice.clone(), LOOKED_AT_MAX);
            let found = found.await?;
            events.extend(found.rows);
            match found.next {
                Some(next) => slice = slice.after(Some(next)),
                None => break,
            }
        }
        Ok(events)
    }
}

pub(super) fn said(answer: impl Serialize) -> Answer<Value> {
    serde_json::to_value(answer).map_err(|error| Complaint::Refused(error.to_string()))
}

pub(super) fn newest(limit: usize) -> Slice {
    Slice::newest_first().limit(limit.clamp(1, limits::PAGE_MAX))
}

/// Whoever reads it asks for more by asking for a longer one.
pub(super) fn page<T>(data: Vec<T>, has_more: bool) -> Page<T> {
    Page { data, has_more, cursor: None }
}

fn unknown_replay(id: Id<Replay>) -> Complaint {
    Complaint::NotFound(format!("there is no replay {id}"))
}
