//! Sources and connections by the names that people gave them.

use ferryhook_core::{Account, Connection, Id, Source, connection, limits};
use ferryhook_store::{Page, Slice, Stored};

use super::{Complaint, Desk};

/// Pages of sources or connections that are looked at for one name.
const PAGES_MAX: usize = 100;

impl Desk {
    /// By id, or by name if one source has it.
    pub(super) async fn find_source(
        &self,
        account: Id<Account>,
        text: &str,
    ) -> Result<Source, Complaint> {
        let nothing = || Complaint::NotFound(format!("there is no source {text}"));
        if let Ok(id) = text.parse::<Id<Source>>() {
            let found = self.store.sources().find(id).await?.map(|found| found.record);
            return found.filter(|found| found.account_id == account).ok_or_else(nothing);
        }
        let (mut pages, mut named) = (Pages::new(), Vec::new());
        while let Some(slice) = pages.next() {
            let page = self.store.sources().list_by_account(account, slice).await?;
            named.extend(pages.turn(page).filter(|source| source.name == text));
        }
        one_of(named, "source", text)
    }

    pub(super) async fn find_connection(
        &self,
        account: Id<Account>,
        text: &str,
    ) -> Result<Connection, Complaint> {
        let named = self.find_connections(account, None, &[text.to_owned()]).await?;
        let nothing = || Complaint::NotFound(format!("there is no connection {text}"));
        let id = named.first().copied().ok_or_else(nothing)?;
        let found = self.store.connections().find(id).await?.map(|found| found.record);
        let is_ours = |found: &Connection| {
            found.account_id == account && found.status != connection::Status::Deleted
        };
        found.filter(is_ours).ok_or_else(nothing)
    }

    /// Of this source, or of any, by id or by name. An id is believed: what it names is seen later,
    /// by whoever replays to it, and is then of the event's own account.
    pub(super) async fn find_connections(
        &self,
        account: Id<Account>,
        of: Option<Id<Source>>,
        texts: &[String],
    ) -> Result<Vec<Id<Connection>>, Complaint> {
        let what = if of.is_some() { "connection of this source" } else { "connection" };
        let mut found = Vec::with_capacity(texts.len());
        for text in texts {
            if let Ok(id) = text.parse() {
                found.push(id);
                continue;
            }
            let mut pages = Pages::new();
            let mut named = Vec::new();
            while let Some(slice) = pages.next() {
                let connections = self.store.connections();
                let page = match of {
                    Some(source) => connections.list_by_source(source, slice).await?,
                    None => connections.list_by_account(account, slice).await?,
                };
                named.extend(pages.turn(page).filter(|one| one.name == *text));
            }
            found.push(one_of(named, what, text)?.id);
        }
        Ok(found)
    }
}

/// All pages of a list, as far as they are looked at.
struct Pages {
    next: Option<Slice>,
    left: usize,
}

impl Pages {
    fn new() -> Self {
        Self { next: Some(Slice::default().limit(limits::PAGE_MAX)), left: PAGES_MAX }
    }

    fn next(&mut self) -> Option<Slice> {
        self.left = self.left.checked_sub(1)?;
        self.next.take()
    }

    fn turn<T>(&mut self, page: Page<Stored<T>>) -> impl Iterator<Item = T> {
        let Page { rows, next } = page;
        self.next = next.map(|next| Slice::default().limit(limits::PAGE_MAX).after(Some(next)));
        rows.into_iter().map(|row| row.record)
    }
}

fn one_of<T>(mut named: Vec<T>, what: &str, text: &str) -> Result<T, Complaint> {
    match (named.pop(), named.len()) {
        (Some(one), 0) => Ok(one),
        (Some(_), _) => {
            Err(Complaint::Refused(format!("more than one {what} is called {text:?}; use its id")))
        }
        (None, _) => Err(Complaint::NotFound(format!("no {what} is called {text:?}"))),
    }
}
