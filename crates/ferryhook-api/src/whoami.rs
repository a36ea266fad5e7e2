//! `GET /v1/whoami`: who is calling, and where they are.

use axum::extract::State;
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id, Key, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Found};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::router::App;

/// The caller, as the server sees them.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhoAmI {
    /// The account that requests are about.
    #[schema(value_type = String)]
    pub account_id: Id<Account>,
    pub account_name: String,
    /// What may be done there.
    #[schema(value_type = String)]
    pub role: Role,
    #[schema(value_type = String)]
    pub user_id: Id<User>,
    /// Where a key was used instead of signing in.
    #[schema(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<Id<Key>>,
}

pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<Found<WhoAmI>> {
    let account = app.store.accounts().find(caller.account()).await?;
    let account = account.ok_or_else(Problem::not_found)?;
    Ok(Found(WhoAmI {
        account_id: account.id,
        account_name: account.record.name,
        role: caller.role(),
        user_id: caller.user(),
        key_id: caller.key(),
    }))
}

#[cfg(test)]
mod tests;
