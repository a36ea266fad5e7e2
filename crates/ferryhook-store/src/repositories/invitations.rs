//! Invitations: given out, taken back, accepted once.

use std::time::Duration;

use ferryhook_core::invitation::{Status, Token};
use ferryhook_core::{Account, Id, Invitation, Member, User, account, limits};

use super::plan_counts::first_member;
use super::{RoomError, Slice, TRIES_MAX};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{Unique, invitation};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Invitations<'a>(pub(crate) &'a Store);

/// Why nobody joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("the invitation was used, taken back, or is for someone else")]
    Void,
    #[error("already a member of the account")]
    Member,
    #[error("this e-mail address belongs to someone else")]
    EmailTaken,
    /// The plan of the account has room for no more.
    #[error("the account has room for {most} members")]
    Full { most: u64 },
    #[error("the account is suspended, and nobody can join it now")]
    Closed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why nobody was invited.
#[derive(Debug, thiserror::Error)]
pub enum InviteError {
    #[error("an account can have {} open invitations", limits::INVITATIONS_OPEN_MAX)]
    TooManyOpen,
    #[error("an account can give out {} invitations a day", limits::INVITATIONS_A_DAY_MAX)]
    TooManyToday {
        /// Until the oldest of them is a day old.
        wait: Duration,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Invitations<'_> {
    /// Within the bounds of its account, which hold however many invite at once: who invites moves
    /// the account's revision on, and who counted before that counts again.
    pub async fn create(&self, invitation: &Invitation) -> Result<(), InviteError> {
        for _ in 0..TRIES_MAX {
            let account = self.0.accounts().find(invitation.account_id).await?;
            self.check_bounds(invitation.account_id).await?;
            let mut batch = Batch::new().insert(invitation);
            if let Some(account) = &account {
                batch = batch.replace(account, &account.record);
            }
            match self.0.commit(batch).await {
                Err(error) if error.refused_at(1) => {} // the account was written in between
                done => return Ok(done?),
            }
        }
        Err(StoreError::Unavailable("the account is being changed by others".into(), None).into())
    }

    /// The rows of an account stand in one partition and are kept for longer than a day.
    async fn check_bounds(&self, account: Id<Account>) -> Result<(), InviteError> {
        let now = self.0.now();
        let mut slice = Slice::default().limit(limits::PAGE_MAX);
        let (mut open, mut today) = (0, Vec::new());
        loop {
            let page = self.list_by_account(account, slice.clone()).await?;
            for row in &page.rows {
                open += usize::from(row.status_at(now) == Status::Pending);
                let age = now.saturating_since(row.created_at);
                today.extend((age < DAY).then_some(age));
            }
            if open >= limits::INVITATIONS_OPEN_MAX {
                return Err(InviteError::TooManyOpen);
            }
            if today.len() >= limits::INVITATIONS_A_DAY_MAX {
                let oldest = today.into_iter().max().unwrap_or_default();
                return Err(InviteError::TooManyToday { wait: DAY.saturating_sub(oldest) });
            }
            let Some(next) = page.next else { return Ok(()) };
            slice = slice.after(Some(next));
        }
    }

    pub async fn find(
        &self,
        account: Id<Account>,
        id: Id<Invitation>,
    ) -> Result<Option<Stored<Invitation>>, StoreError> {
        self.0.find(&invitation::key(account, id)).await
    }

    /// The one that the token opens now.
    pub async fn find_by_token(
        &self,
        token: &Token,
    ) -> Result<Option<Stored<Invitation>>, StoreError> {
        let found = self.find(token.account, token.invitation).await?;
        Ok(found.filter(|invitation| invitation.is_opened_by(token, self.0.now())))
    }

    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Invitation>>, StoreError> {
        let query = Query::table(Kind::Invitation, invitation::partition(account));
        self.0.list(slice.of(query.prefix(invitation::PREFIX))).await
    }

    /// Refused if it was accepted meanwhile.
    pub async fn revoke(&self, was: &Stored<Invitation>) -> Result<Stored<Invitation>, StoreError> {
        let now = Invitation { status: Status::Revoked, ..was.record.clone() };
        self.0.replace(was, now).await
    }

    /// Someone who can sign in already takes the place: the invitation and the member are one
    /// commit, so that it is used exactly when somebody joined.
    pub async fn accept(&self, was: &Stored<Invitation>, user: &User) -> Result<Member, JoinError> {
        let member = self.redeem(was, user).await?;
        let batch = || Batch::new().replace(was, &was.accepted(user.id)).insert(&member);
        match self.join(was, batch).await {
            Ok(()) => Ok(member),
            Err(RoomError::Full { most }) => Err(JoinError::Full { most }),
            Err(RoomError::Store(error)) => Err(match error {
                error if error.refused_at(0) => JoinError::Void,
                error if error.refused_at(1) => JoinError::Member,
                error => error.into(),
            }),
        }
    }

    /// Someone new signs up with it: user, place, and perhaps an account of their own, or nothing
    /// at all.
    pub async fn sign_up(
        &self,
        was: &Stored<Invitation>,
        user: &User,
        own: Option<(&Account, &Member)>,
    ) -> Result<Member, JoinError> {
        let mut member = self.redeem(was, user).await?;
        member.is_default = user.default_account_id == member.account_id;
        let batch = || {
            let batch = Batch::new()
                .replace(was, &was.accepted(user.id))
                .insert(&Unique::email(&user.email, &user.id))
                .insert(user)
                .insert(&member);
            match own {
                Some((account, place)) => {
                    batch.insert(account).insert(place).insert(&first_member(account.id))
                }
                None => batch,
            }
        };
        match self.join(was, batch).await {
            Ok(()) => Ok(member),
            Err(RoomError::Full { most }) => Err(JoinError::Full { most }),
            Err(RoomError::Store(error)) => Err(match error {
                error if error.refused_at(0) => JoinError::Void,
                error if error.refused_at(1) => JoinError::EmailTaken,
                error => error.into(),
            }),
        }
    }

    /// Within what the plan of the account has room for.
    async fn join(
        &self,
        invitation: &Invitation,
        batch: impl Fn() -> Batch,
    ) -> Result<(), RoomError> {
        let plan = self.0.plan_counts().plan_of(invitation.account_id).await?;
        let most = plan.and_then(|plan| plan.limits.users).map(u64::from);
        self.0.members().join(invitation.account_id, most, batch).await
    }

    /// The place it gives, if it still gives one, and to this user. Whoever invited them must still
    /// be one who could: an invitation is no way back in for somebody who was removed.
    async fn redeem(&self, invitation: &Invitation, user: &User) -> Result<Member, JoinError> {
        let now = self.0.now();
        if invitation.status_at(now) != Status::Pending || !invitation.is_for(&user.email) {
            return Err(JoinError::Void);
        }
        let host = self.0.members().standing(invitation.invited_by, invitation.account_id).await?;
        match host {
            Some(host) if host.role < invitation.role => Err(JoinError::Void),
            Some(host) if host.status != account::Status::Active => Err(JoinError::Closed),
            Some(_) => Ok(invitation.member(user.id, now)),
            None => Err(JoinError::Void),
        }
    }
}
