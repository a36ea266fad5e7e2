//! Erasures, as the command line asks for them.

use ferryhook_api::erasures::ErasureJob;
use ferryhook_api::page::Page;
use ferryhook_core::erasure::{BadErasure, What};
use ferryhook_core::replay::Position;
use ferryhook_core::{Account, Erasure, Id};
use ferryhook_store::search::{self, Count};

use super::orders::Erase;
use super::questions::{Answer, newest, page};
use super::{Complaint, Desk};

impl Desk {
    pub(super) async fn count_erasure(
        &self,
        account: Id<Account>,
        order: &Erase,
        after: Option<Position>,
    ) -> Answer<Count> {
        let what = self.meant(account, order).await?;
        Ok(search::count_erased(&self.store, account, &what, after).await?)
    }

    pub(super) async fn erase(&self, account: Id<Account>, order: &Erase) -> Answer<ErasureJob> {
        let what = self.meant(account, order).await?;
        let erasure = Erasure::new(account, what, None, &self.env);
        self.works().begin_erasure(&self.store, &erasure).await?;
        Ok(self.erasure(&erasure))
    }

    async fn meant(&self, account: Id<Account>, order: &Erase) -> Answer<What> {
        let Erase { ids, filter, source, from, to } = order;
        let Some(filter) = filter else { return Ok(What::events(ids.clone())?) };
        let source = match source {
            Some(text) => Some(self.find_source(account, text).await?.id),
            None => None,
        };
        Ok(What::subject(filter.clone(), source, *from, *to, self.env.now())?)
    }

    pub(super) async fn list_erasures(
        &self,
        account: Id<Account>,
        limit: usize,
    ) -> Answer<Page<ErasureJob>> {
        let found = self.store.erasures().list_by_account(account, newest(limit)).await?;
        let data = found.rows.iter().map(|row| self.erasure(row)).collect();
        Ok(page(data, found.next.is_some()))
    }

    pub(super) async fn show_erasure(
        &self,
        account: Id<Account>,
        id: Id<Erasure>,
    ) -> Answer<ErasureJob> {
        let found = self.store.erasures().find(account, id).await?;
        Ok(self.erasure(&found.ok_or_else(|| unknown(id))?.record))
    }

    /// One that is over stays as it is.
    pub(super) async fn cancel_erasure(
        &self,
        account: Id<Account>,
        id: Id<Erasure>,
    ) -> Answer<ErasureJob> {
        let cancelled = self.store.erasures().cancel(account, id).await?;
        Ok(self.erasure(&cancelled.ok_or_else(|| unknown(id))?.record))
    }

    fn erasure(&self, erasure: &Erasure) -> ErasureJob {
        ErasureJob::new(erasure, self.courier.is_none())
    }
}

fn unknown(id: Id<Erasure>) -> Complaint {
    Complaint::NotFound(format!("there is no erasure {id}"))
}

impl From<BadErasure> for Complaint {
    fn from(error: BadErasure) -> Self {
        Self::Refused(error.to_string())
    }
}
