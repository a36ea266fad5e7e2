//! Sessions: begun with a sign-in, renewed by their token, gone when they are over.

use ferryhook_core::{Id, Session, User};

use super::Slice;
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{session, user};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a>(pub(crate) &'a Store);

impl Sessions<'_> {
    /// Only if the user is still as they were when they proved who they are: a password that was
    /// changed meanwhile, or a code that was used meanwhile, refuses it.
    pub async fn begin(
        &self,
        was: &Stored<User>,
        now: User,
        session: &Session,
    ) -> Result<Stored<User>, StoreError> {
        self.0.commit(Batch::new().replace(was, &now).insert(session)).await?;
        Ok(was.followed_by(now))
    }

    pub async fn find(
        &self,
        of: Id<User>,
        id: Id<Session>,
    ) -> Result<Option<Stored<Session>>, StoreError> {
        self.0.find(&session::key(of, id)).await
    }

    /// A page is short only where there are no more: whoever ends them all takes one for all.
    pub async fn list(
        &self,
        of: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Session>>, StoreError> {
        let query = Query::table(Kind::Session, user::partition(of)).prefix(session::PREFIX);
        self.0.list_full(slice.of(query)).await
    }

    /// Of two who renew it at once one is refused, and finds it renewed when it looks again.
    pub async fn renew(
        &self,
        was: &Stored<Session>,
        now: Session,
    ) -> Result<Stored<Session>, StoreError> {
        self.0.replace(was, now).await
    }

    pub async fn end(&self, was: &Stored<Session>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }

    /// A change of the user that ends their sessions, with the one that goes on. The others are
    /// of an earlier epoch from here on, whether or not their rows are there still.
    pub async fn end_others(
        &self,
        was: &Stored<User>,
        now: User,
        own: (&Stored<Session>, &Session),
    ) -> Result<Stored<User>, StoreError> {
        self.0.commit(Batch::new().replace(was, &now).replace(own.0, own.1)).await?;
        Ok(was.followed_by(now))
    }
}
