//! What became of an account's events, one change after the other.

use ferryhook_core::{Account, Event, Id, Source, Timestamp};

use super::Events;
use crate::StoreError;
use crate::changes::{Change, Place, Start, Wanted, What};
use crate::engine::Row;
use crate::key::Key;
use crate::record::{Kind, Stored};
use crate::records::{event, source};

#[derive(Debug, Clone, PartialEq)]
pub enum EventChange {
    /// As it was written. What it carries may be missing if it is gone by now.
    Inserted(Box<Event>),
    Changed(Box<Event>),
    /// No more than its name is left.
    Removed {
        source: Id<Source>,
        received_at: Timestamp,
        id: Id<Event>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToldChange {
    pub change: EventChange,
    pub sequence: String,
    pub place: Place,
}

/// A page. It may be empty and still not be the last.
#[derive(Debug, Clone, PartialEq)]
pub struct EventChanges {
    pub changes: Vec<ToldChange>,
    pub next: Place,
    pub is_end: bool,
}

impl Events<'_> {
    /// Changes of the account's events, and removals of anyone's: a name does not tell whose it
    /// was, its source does.
    pub async fn changes(
        &self,
        account: Id<Account>,
        start: Start,
        limit: usize,
    ) -> Result<EventChanges, StoreError> {
        let only = Some(("accountId".into(), account.as_str().into()));
        let wanted = Wanted { only, ..Wanted::new(Kind::Event, start).limit(limit) };
        let page = self.0.engine().changes(&wanted).await?;
        let changes = page.changes.into_iter().filter_map(|change| told(change).transpose());
        let changes = changes.collect::<Result<_, _>>()?;
        Ok(EventChanges { changes, next: page.next, is_end: page.is_end })
    }

    /// Waits until there may be something behind the end of such a page.
    pub async fn changed(&self, since: &Place) -> Result<(), StoreError> {
        self.0.engine().changed(since).await
    }
}

fn told(change: Change) -> Result<Option<ToldChange>, StoreError> {
    let Change { key, what, sequence, place } = change;
    let event = |row: Row| Stored::<Event>::from_row(row).map(|event| Box::new(event.record));
    let change = match what {
        What::Inserted(row) => EventChange::Inserted(event(row)?),
        What::Changed(row) => EventChange::Changed(event(row)?),
        What::Removed => match removed(&key) {
            Some(removed) => removed,
            None => return Ok(None),
        },
    };
    Ok(Some(ToldChange { change, sequence, place }))
}

/// The event that such a key is of; deliveries and others in the table have other keys.
fn removed(key: &Key) -> Option<EventChange> {
    let name = key.sort.as_deref()?.strip_prefix(event::PREFIX)?;
    let (millis, id) = name.split_once('#')?;
    let source = key.partition.strip_prefix(source::PREFIX)?.parse().ok()?;
    let received_at = Timestamp::from_millis(millis.parse().ok()?);
    Some(EventChange::Removed { source, received_at, id: id.parse().ok()? })
}
