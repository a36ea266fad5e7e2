//! An invitation as clients see it.

use ferryhook_core::id::{AccountId, InvitationId, UserId};
use ferryhook_core::invitation::Status;
use ferryhook_core::member::Role;
use ferryhook_core::{Invitation, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An invitation into an account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    pub invitation_id: InvitationId,
    pub account_id: AccountId,
    /// Who is invited.
    pub email: String,
    pub role: Role,
    pub status: Status,
    pub invited_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// What accepts it. Shown once, in the answer to its creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl InvitationView {
    /// Without its token.
    pub fn of(invitation: &Invitation, now: Timestamp) -> Self {
        Self {
            invitation_id: invitation.id,
            account_id: invitation.account_id,
            email: invitation.email.clone(),
            role: invitation.role,
            status: invitation.status_at(now),
            invited_by: invitation.invited_by,
            created_at: invitation.created_at,
            expires_at: invitation.expires_at,
            token: None,
        }
    }
}
