//! Members: who is in which account. A root never loses its last administrator; those above are
//! administrators of the accounts beneath.

use ferryhook_core::member::{Role, Status};
use ferryhook_core::plan_count::Counted;
use ferryhook_core::{Account, Id, Member, User, limits};

use super::plan_counts::{Counting, one_less};
use super::{RoomError, Slice, TRIES_MAX};
use crate::batch::{Batch, Condition};
use crate::query::{Page, Query};
use crate::record::{Kind, Record, Stored};
use crate::records::{member, word};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(pub(crate) &'a Store);

#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    #[error("an account that lies beneath no other keeps at least one administrator")]
    LastAdmin,
    /// What is stored of an administrator is then enough to know that they can act.
    #[error("an administrator is given a lesser role before being suspended")]
    AdminSuspended,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Members<'_> {
    /// Whatever the plan says.
    pub async fn add(&self, member: &Member) -> Result<(), StoreError> {
        let batch = || Batch::new().insert(member);
        self.join(member.account_id, None, batch).await.map_err(RoomError::unlimited)
    }

    /// Commits what brings one more into an account, unless it would then have more than `most`.
    pub(super) async fn join(
        &self,
        account: Id<Account>,
        most: Option<u64>,
        batch: impl Fn() -> Batch,
    ) -> Result<(), RoomError> {
        let counting = Counting { account, counted: Counted::Users, by: 1, most, owner: None };
        counting.commit(self.0, batch).await
    }

    /// One by one, for an account that is older than its count.
    pub(super) async fn count(&self, account: Id<Account>) -> Result<u64, StoreError> {
        let (mut count, mut slice) = (0, Slice::default().limit(limits::PAGE_MAX));
        loop {
            let page = self.list_by_account(account, None, slice.clone()).await?;
            count += page.rows.len() as u64;
            if page.next.is_none() {
                return Ok(count);
            }
            slice = slice.after(page.next);
        }
    }

    /// By its key: what a request may do is decided on what was last written.
    pub async fn find(
        &self,
        user: Id<User>,
        account: Id<Account>,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        self.0.find(&member::key(user, account)).await
    }

    pub async fn list_by_user(
        &self,
        user: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Member>>, StoreError> {
        let query = Query::table(Kind::Member, user.as_str());
        self.0.list(slice.of(query)).await
    }

    /// Sorted by role; with a role, only those who have it.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        role: Option<Role>,
        slice: Slice,
    ) -> Result<Page<Stored<Member>>, StoreError> {
        let mut query = Query::index(Kind::Member, Index::MemberRole, account.as_str());
        if let Some(role) = role {
            query = query.exactly(word(role));
        }
        self.0.list(slice.of(query)).await
    }

    /// Those who look after an account: its administrators and managers, or where it has none of its
    /// own, the administrators of the nearest account above that has some.
    pub async fn keepers(&self, account: Id<Account>) -> Result<Vec<Id<User>>, StoreError> {
        for one in self.0.accounts().lineage(account).await? {
            let roles: &[Role] = match one.id == account {
                true => &[Role::Admin, Role::Manager],
                false => &[Role::Admin],
            };
            let mut users = Vec::new();
            for role in roles {
                let slice = Slice::default().limit(limits::NOTIFIED_MAX);
                let page = self.list_by_account(one.id, Some(*role), slice).await?;
                let active = page.rows.iter().filter(|member| member.status == Status::Active);
                users.extend(active.map(|member| member.user_id));
            }
            if !users.is_empty() {
                users.truncate(limits::NOTIFIED_MAX);
                return Ok(users);
            }
        }
        Ok(Vec::new())
    }

    pub async fn replace(
        &self,
        was: &Stored<Member>,
        now: Member,
    ) -> Result<Stored<Member>, MemberError> {
        if now.role == Role::Admin && now.status != Status::Active {
            return Err(MemberError::AdminSuspended);
        }
        let steps_down = was.role == Role::Admin && now.role != Role::Admin;
        let batch = || Batch::new().replace(was, &now);
        self.keeping_an_admin(was, steps_down, batch).await?;
        Ok(was.followed_by(now))
    }

    /// Who had it as the default account gets another of theirs as the default.
    pub async fn remove(&self, was: &Stored<Member>) -> Result<(), MemberError> {
        for _ in 0..TRIES_MAX {
            let user = self.0.users().find(was.user_id).await?;
            let moves = user.filter(|user| user.default_account_id == was.account_id);
            let next = match &moves {
                Some(_) => self.another_place(was).await?,
                None => None,
            };
            let counted = one_less(self.0, was.account_id, Counted::Users).await?;
            let batch = || {
                let batch = counted(Batch::new().delete(was));
                match (&moves, &next) {
                    (Some(user), Some(next)) => {
                        let mut moved = user.record.clone();
                        moved.default_account_id = next.account_id;
                        let default = Member { is_default: true, ..next.record.clone() };
                        batch.replace(user, &moved).replace(next, &default)
                    }
                    _ => batch,
                }
            };
            match self.keeping_an_admin(was, was.role == Role::Admin, batch).await {
                // The user, whose events are counted all the time, or the count was written in
                // between.
                Err(MemberError::Store(error)) if error.is_refused() && !error.refused_at(0) => {}
                done => return done,
            }
        }
        Err(StoreError::Unavailable("the user is being changed by others".into(), None).into())
    }

    /// Where requests of the user go that name no account. Their place there, if they have one of
    /// their own, says so too.
    pub async fn make_default(
        &self,
        user: Id<User>,
        account: Id<Account>,
    ) -> Result<(), StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(was) = self.0.users().find(user).await? else { return Ok(()) };
            let mut now = was.record.clone();
            now.default_account_id = account;
            now.updated_at = self.0.now();
            let mut batch = Batch::new().replace(&was, &now);
            for (of, is_default) in [(was.default_account_id, false), (account, true)] {
                let place = self.find(user, of).await?;
                let differs = |place: &Stored<Member>| place.is_default != is_default;
                if let Some(place) = place.filter(differs).filter(|_| is_default || of != account) {
                    let now = Member { is_default, ..place.record.clone() };
                    batch = batch.replace(&place, &now);
                }
            }
            match self.0.commit(batch).await {
                Err(error) if error.is_refused() => {} // someone wrote in between; look again
                done => return done,
            }
        }
        Err(StoreError::Unavailable("the user is being changed by others".into(), None))
    }

    /// Commits what takes an administrator away only while there is another one. The condition
    /// stands in the commit: of two who take the role from each other, one is refused. It asks
    /// for the role and not for a revision, because someone who left and came back as less has
    /// the same revision again.
    async fn keeping_an_admin(
        &self,
        was: &Stored<Member>,
        steps_down: bool,
        batch: impl Fn() -> Batch,
    ) -> Result<(), MemberError> {
        if !steps_down || self.lies_beneath_another(was.account_id).await? {
            return Ok(self.0.commit(batch()).await?);
        }
        for _ in 0..TRIES_MAX {
            let other = self.another_admin(was).await?.ok_or(MemberError::LastAdmin)?;
            let is_admin = Condition::Is("role".into(), word(Role::Admin).into());
            let batch = batch();
            let place = batch.actions().len();
            match self.0.commit(batch.require(other.key(), is_admin)).await {
                Err(error) if error.refused_at(place) => {} // no longer; is there a third?
                done => return Ok(done?),
            }
        }
        Err(MemberError::LastAdmin)
    }

    /// Where an account lies never changes.
    async fn lies_beneath_another(&self, account: Id<Account>) -> Result<bool, StoreError> {
        let account = self.0.accounts().find(account).await?;
        Ok(account.is_some_and(|account| account.parent_account_id.is_some()))
    }

    async fn another_admin(&self, than: &Member) -> Result<Option<Stored<Member>>, StoreError> {
        let mut slice = Slice::default();
        for _ in 0..TRIES_MAX {
            let admin = Some(Role::Admin);
            let page = self.list_by_account(than.account_id, admin, slice.clone()).await?;
            for row in page.rows.iter().filter(|row| row.user_id != than.user_id) {
                let now = self.find(row.user_id, row.account_id).await?;
                if let Some(now) = now.filter(|now| now.role == Role::Admin) {
                    return Ok(Some(now));
                }
            }
            if page.next.is_none() {
                return Ok(None);
            }
            slice = slice.after(page.next);
        }
        Ok(None)
    }

    async fn another_place(&self, than: &Member) -> Result<Option<Stored<Member>>, StoreError> {
        let page = self.list_by_user(than.user_id, Slice::default()).await?;
        let mut others = page.rows.into_iter().filter(|row| row.account_id != than.account_id);
        Ok(others.find(|row| row.status == Status::Active))
    }
}
