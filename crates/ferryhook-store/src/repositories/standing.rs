//! How someone stands in an account: asked before everything they do in it.
//!
//! By keys all the way, so that a role that was taken a moment ago is gone on every engine.

use ferryhook_core::member::{Role, Status};
use ferryhook_core::{Account, Id, Map, User, account};

use super::Members;
use crate::StoreError;
use crate::record::Stored;

#[derive(Debug, Clone)]
pub struct Standing {
    pub account: Stored<Account>,
    /// Those above it, from its parent up to the root.
    pub above: Vec<Id<Account>>,
    /// The account's own, or that of one above it which is worse off.
    pub status: account::Status,
    pub role: Role,
    /// Exceptions to the role.
    pub permissions: Map,
    /// Where the role comes from: the account itself, or one above it.
    pub through: Id<Account>,
}

impl Members<'_> {
    /// `None` for an account that does not exist, and for one in which they are nobody. An
    /// administrator of an account is one in all that lie beneath it; lesser roles end where they
    /// were given.
    pub async fn standing(
        &self,
        user: Id<User>,
        account: Id<Account>,
    ) -> Result<Option<Standing>, StoreError> {
        let mut lineage = self.0.accounts().lineage(account).await?.into_iter();
        let Some(account) = lineage.next() else { return Ok(None) };
        let above: Vec<_> = lineage.as_slice().iter().map(|above| above.id).collect();
        let mut place = self.active(user, account.id).await?;
        let mut through = account.id;
        let mut status = account.status;
        for above in lineage {
            status = status.max(above.status);
            if place.as_ref().is_some_and(|(role, _)| *role == Role::Admin) {
                continue;
            }
            if let Some((Role::Admin, _)) = self.active(user, above.id).await? {
                (place, through) = (Some((Role::Admin, Map::new())), above.id);
            }
        }
        Ok(place.map(|(role, permissions)| Standing {
            account,
            above,
            status,
            role,
            permissions,
            through,
        }))
    }

    async fn active(
        &self,
        user: Id<User>,
        account: Id<Account>,
    ) -> Result<Option<(Role, Map)>, StoreError> {
        let member = self.find(user, account).await?.map(|found| found.record);
        let active = member.filter(|member| member.status == Status::Active);
        Ok(active.map(|member| (member.role, member.permissions)))
    }
}
