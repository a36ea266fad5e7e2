//! An invitation as clients see it.

use ferryhook_core::invitation::Status;
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id, Invitation, Timestamp, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An invitation into an account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    #[schema(value_type = String)]
    pub invitation_id: Id<Invitation>,
    #[schema(value_type = String)]
    pub account_id: Id<Account>,
    /// Who is invited.
    pub email: String,
    pub role: Role,
    pub status: Status,
    #[schema(value_type = String)]
    pub invited_by: Id<User>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
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
