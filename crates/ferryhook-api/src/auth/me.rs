//! `/v1/auth/me`: a person, by themselves.

use axum::extract::State;
use ferryhook_core::{Map, User, limits};
use serde::Deserialize;
use utoipa::ToSchema;

use super::Profile;
use super::entry::Tries;
use super::signup;
use crate::call::{ApiResult, Condition, ETag, Sent, Tagged};
use crate::caller::Person;
use crate::problem::Problem;
use crate::router::App;
use crate::visit::details;

/// What of themselves somebody may change by saying so. What is absent stays.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileChange {
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub first_name: Option<String>,
    #[serde(default)]
    pub last_name: Option<String>,
    /// Replaces all of them.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub preferences: Option<Map>,
}

/// The dashboard's notes about one person are no place to keep things.
const PREFERENCES_BYTES_MAX: usize = limits::SOURCE_CONFIG_BYTES_MAX;

pub async fn show(person: Person) -> ApiResult<Tagged<Profile>> {
    let body = Profile::of(&person.user, person.home);
    Ok(Tagged { tag: tag(&body), body })
}

pub async fn change(
    State(app): State<App>,
    person: Person,
    condition: Condition,
    Sent(body): Sent<ProfileChange>,
) -> ApiResult<Tagged<Profile>> {
    let before = Profile::of(&person.user, person.home);
    condition.allows(&tag(&before))?;
    let after = Profile::of(&changed(&person.user, &body, &app)?, person.home);
    let id = person.id().to_string();
    let store =
        person.noting(&app, "user_updated", "user", &id, details(Some(&before), Some(&after)));
    let mut user = person.user.clone();
    let mut tries = Tries::default();
    loop {
        let now = changed(&user, &body, &app)?;
        match store.users().replace(&user, now.clone()).await {
            Ok(_) => break,
            Err(error) => user = tries.again(&app, &user, error).await?,
        }
        condition.allows(&tag(&Profile::of(&user, person.home)))?;
    }
    Ok(Tagged { tag: tag(&after), body: after })
}

fn changed(user: &User, body: &ProfileChange, app: &App) -> ApiResult<User> {
    let mut now = user.clone();
    if let Some(name) = &body.name {
        now.name = signup::name(Some(name), &user.name, "/name")?;
    }
    if let Some(name) = &body.first_name {
        now.first_name = part(name, "/firstName")?;
    }
    if let Some(name) = &body.last_name {
        now.last_name = part(name, "/lastName")?;
    }
    if let Some(preferences) = &body.preferences {
        let bytes = serde_json::to_vec(preferences).map_or(usize::MAX, |text| text.len());
        if bytes > PREFERENCES_BYTES_MAX {
            let message = format!("has at most {PREFERENCES_BYTES_MAX} bytes");
            return Err(Problem::invalid("/preferences", message));
        }
        now.preferences = Some(preferences.clone()).filter(|preferences| !preferences.is_empty());
    }
    now.updated_at = app.env.now();
    Ok(now)
}

/// An empty one is none.
fn part(name: &str, pointer: &str) -> ApiResult<Option<String>> {
    match name.trim().is_empty() {
        true => Ok(None),
        false => signup::name(Some(name), "", pointer).map(Some),
    }
}

/// Of what a person can change; that they have signed in since is no other state.
fn tag(profile: &Profile) -> ETag {
    let Profile { name, first_name, last_name, preferences, email, .. } = profile;
    ETag::of(&(name, first_name, last_name, preferences, email))
}
