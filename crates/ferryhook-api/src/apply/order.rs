//! `POST /v1/apply`: a manifest, for the account of whoever sends it.

use std::collections::BTreeMap;

use axum::extract::State;
use ferryhook_core::Secret;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ApplyError, Applying, Asked, Hand, Outcome};
use crate::call::{ApiResult, Found, Sent};
use crate::caller::Caller;
use crate::manifest::Manifest;
use crate::owner::Owner;
use crate::problem::{Code, FieldError, Problem};
use crate::router::App;

/// What sources and connections are to be.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestOrder {
    /// In YAML, or in JSON, which is YAML too.
    #[schema(max_length = 1048576)]
    pub manifest: String,
    /// What complaints call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub file: Option<String>,
    /// The values of what the manifest refers to as `env:NAME`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub secrets: BTreeMap<String, Secret>,
    /// Say what would be done, and do nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Delete what is not in the manifest.
    #[serde(default)]
    pub prune: bool,
}

/// `POST /v1/apply`
pub async fn apply(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<ManifestOrder>,
) -> ApiResult<Found<Outcome>> {
    let asked = Asked {
        file: order.file.unwrap_or_else(|| "manifest".to_owned()),
        text: order.manifest,
        secrets: order.secrets,
        dry_run: order.dry_run,
        prune: order.prune,
    };
    let outcome = run(&app, &caller, &asked).await.map_err(problem)?;
    if asked.dry_run || outcome.changes.is_empty() {
        caller.nothing_changed();
    }
    Ok(Found(outcome))
}

async fn run(app: &App, caller: &Caller, asked: &Asked) -> Result<Outcome, ApplyError> {
    let manifest = Manifest::parse(&asked.text, &asked.secrets, &app.guard)
        .map_err(|complaints| ApplyError::Manifest { file: asked.file.clone(), complaints })?;
    let owner = Owner { user: caller.owner(), account: caller.account() };
    let (hand, env, bell) = (Hand::Caller(app, caller), &app.env, &*app.bell);
    Applying { hand, owner, env, asked, bell }.run(&manifest).await
}

fn problem(error: ApplyError) -> Problem {
    let said = error.to_string();
    match error {
        ApplyError::Manifest { file, complaints } => {
            let error = |one| FieldError {
                pointer: "/manifest".to_owned(),
                message: format!("{file}:{one}"),
            };
            let said = format!("{file} has mistakes, so nothing was changed.");
            let errors = complaints.into_iter().map(error).collect();
            Problem::new(Code::Validation, said).with_errors(errors)
        }
        ApplyError::Ambiguous { .. } => Problem::new(Code::Conflict, said),
        ApplyError::Refused { problem, .. } => Problem::new(problem.code(), said),
        ApplyError::Stopped { cause, .. } => Problem::new(Problem::from(cause).code(), said),
        ApplyError::Store(error) => error.into(),
    }
}

#[cfg(test)]
mod tests;
