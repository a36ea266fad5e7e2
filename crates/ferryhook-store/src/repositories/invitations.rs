//! Invitations: given out, taken back, accepted once.

use ferryhook_core::invitation::{Status, Token};
use ferryhook_core::{Account, Id, Invitation, Member, User};

use super::plan_counts::first_member;
use super::{RoomError, Slice};
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
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Invitations<'_> {
    pub async fn create(&self, invitation: &Invitation) -> Result<(), StoreError> {
        self.0.insert(invitation).await
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
        match host.is_some_and(|host| host.role >= invitation.role) {
            true => Ok(invitation.member(user.id, now)),
            false => Err(JoinError::Void),
        }
    }
}
