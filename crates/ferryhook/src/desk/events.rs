//! Events: which there are, what became of one, and one once more.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::replay::Filter;
use ferryhook_core::{Event, Id, limits};
use ferryhook_flow::replay::{self, Search};
use ferryhook_store::Slice;

use super::orders::{ReplayOne, Shown, Wanted};
use super::view::{
    AttemptLine, DeliveryLine, EventLine, EventList, EventStory, ReplayLine, ReplayTold, What,
};
use super::{Complaint, Desk};

/// How many events are looked at to find those that are wanted, and how many at a time.
const LOOKED_AT_MAX: usize = 20_000;
const PAGE: usize = 200;
/// Pages of attempts that are shown of one event.
const ATTEMPT_PAGES_MAX: usize = 10;

impl Desk {
    pub(super) async fn list_events(&self, wanted: &Wanted) -> Result<EventList, Complaint> {
        let nothing = EventList { data: Vec::new(), has_more: false };
        let filter = self.filter(wanted).await?;
        let Some(account) = self.account().await? else { return Ok(nothing) };
        let refused =
            |error: ferryhook_core::event_types::BadPattern| Complaint::Refused(error.to_string());
        let mut search = Search::newest_first(account, &filter).map_err(refused)?;
        let limit = wanted.limit.clamp(1, limits::PAGE_MAX);
        let (mut events, mut looked_at) = (Vec::new(), 0);
        while events.len() < limit && looked_at < LOOKED_AT_MAX && !search.is_over() {
            let found = search.look(&self.store, PAGE).await?;
            looked_at += found.looked_at.max(1);
            events.extend(found.events.into_iter().map(|event| event.record));
        }
        let has_more = events.len() > limit || !search.is_over();
        events.truncate(limit);
        let names = self.source_names(events.iter().map(|event| event.source_id)).await?;
        let line = |event: &Event| EventLine::new(event, names.get(&event.source_id).cloned());
        Ok(EventList { data: events.iter().map(line).collect(), has_more })
    }

    pub(super) async fn filter(&self, wanted: &Wanted) -> Result<Filter, Complaint> {
        let source_id = match &wanted.source {
            Some(text) => Some(self.find_source(text).await?.id),
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

    pub(super) async fn show_event(&self, shown: Shown) -> Result<EventStory, Complaint> {
        let event = self.event(shown.event).await?;
        let page = Slice::default().limit(limits::PAGE_MAX);
        let deliveries = self.store.deliveries().list_by_event(event.id, page).await?.rows;
        let ids = deliveries.iter().map(|one| one.connection_id);
        let names = self.connection_names(ids).await?;
        let line = |one: &ferryhook_core::Delivery| {
            DeliveryLine::new(one, names.get(&one.connection_id).cloned())
        };
        let source = self.source_names([event.source_id].into_iter()).await?;
        let (text, bytes) = (event.body.as_text(), event.body.as_bytes());
        let with_body = shown.with_body && !event.body.is_empty();
        Ok(EventStory {
            line: EventLine::new(&event, source.get(&event.source_id).cloned()),
            origin: event.origin,
            method: event.method.clone(),
            path: event.path.clone(),
            query: event.query.clone(),
            content_type: event.content_type.clone(),
            source_ip: event.source_ip.clone(),
            dedup_key: event.dedup_key.clone(),
            headers: event.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
            processed_at: event.processed_at,
            delivered_at: event.delivered_at,
            expires_at: event.expires_at,
            body: text.filter(|_| with_body).map(str::to_owned),
            body_base64: (with_body && text.is_none()).then(|| STANDARD.encode(bytes)),
            deliveries: deliveries.iter().map(|one| line(one)).collect(),
            attempts: self.attempts(event.id).await?,
        })
    }

    async fn attempts(&self, event: Id<Event>) -> Result<Vec<AttemptLine>, Complaint> {
        let mut attempts = Vec::new();
        let mut slice = Slice::default().limit(limits::PAGE_MAX);
        for _ in 0..ATTEMPT_PAGES_MAX {
            let page = self.store.attempts().list_by_event(event, slice.clone()).await?;
            attempts.extend(page.rows.iter().map(|row| AttemptLine::from(&row.record)));
            match page.next {
                None => break,
                next => slice = slice.after(next),
            }
        }
        // Kept by number; a story is told by time.
        attempts.sort_by_key(|attempt| (attempt.attempted_at, attempt.number));
        Ok(attempts)
    }

    async fn event(&self, id: Id<Event>) -> Result<Event, Complaint> {
        let found = self.store.events().find(id).await?.map(|found| found.record);
        let unknown = || Complaint::from(replay::ReplayError::Unknown(id));
        found.ok_or_else(unknown)
    }

    pub(super) async fn replay(&self, order: &ReplayOne) -> Result<ReplayTold, Complaint> {
        let event = self.event(order.event).await?;
        let named = self.find_connections(Some(event.source_id), &order.to).await?;
        let to = Some(&*named).filter(|named| !named.is_empty());
        let replayed = match &self.courier {
            Some(courier) => courier.replay(event.id, to).await?,
            None => replay::leave(&self.store, &self.routes, &self.env, event.id, to).await?,
        };
        let begun = replayed.begun.into_iter().map(|id| (id, What::Replayed));
        let held = replayed.held.into_iter().map(|id| (id, What::Held));
        let open = replayed.open.into_iter().map(|id| (id, What::AlreadyOpen));
        let all: Vec<_> = begun.chain(held).chain(open).collect();
        let names = self.connection_names(all.iter().map(|(id, _)| *id)).await?;
        let line = |(id, what)| ReplayLine {
            connection_id: id,
            connection: names.get(&id).cloned(),
            what,
        };
        Ok(ReplayTold {
            event_id: event.id,
            connections: all.into_iter().map(line).collect(),
            waits_for_server: self.courier.is_none(),
        })
    }
}
