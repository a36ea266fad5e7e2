//! Notifications: what one person should know, whatever account it is about.

use axum::extract::State;
use ferryhook_core::id::NotificationId;
use ferryhook_core::notification::NotificationType;
use ferryhook_core::{Map, Notification, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Found, In, Listed};
use crate::caller::Person;
use crate::page;
use crate::problem::Problem;
use crate::router::App;

/// Something to know.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notification)]
pub struct NotificationView {
    pub notification_id: NotificationId,
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: NotificationType,
    pub title: String,
    pub message: String,
    /// Such as `delivery`, `connection`, `hook`, `quota`.
    pub category: String,
    pub is_read: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    /// What it is about: ids, and the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_url: Option<String>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl From<Notification> for NotificationView {
    fn from(one: Notification) -> Self {
        Self {
            notification_id: one.id,
            kind: one.kind,
            title: one.title,
            message: one.message,
            category: one.category,
            is_read: one.is_read,
            read_at: one.read_at,
            metadata: one.metadata,
            action_url: one.action_url,
            created_at: one.created_at,
            expires_at: one.expires_at,
        }
    }
}

/// How much of the list is wanted.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NotificationsQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// How many are unread.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadCount {
    /// At most a thousand are counted.
    pub unread: usize,
}

/// `GET /v1/notifications`: the unread ones, newest first, then the others.
pub async fn list(
    State(app): State<App>,
    person: Person,
    Asked(query): Asked<NotificationsQuery>,
) -> ApiResult<Listed<NotificationView>> {
    let account = person.user.default_account_id;
    let cursors = app.cursors.of("notifications.list", account, &person.id());
    let after = cursors.open(query.cursor.as_deref())?;
    let limit = page::limit(query.limit)?;
    let page = app.store.notifications().list_unread_first(person.id(), limit, after).await?;
    Ok(Listed(cursors.page(page, |row| row.record.into())))
}

/// `GET /v1/notifications/unread-count`
pub async fn unread_count(State(app): State<App>, person: Person) -> ApiResult<Found<UnreadCount>> {
    let unread = app.store.notifications().count_unread(person.id()).await?;
    Ok(Found(UnreadCount { unread }))
}

/// `POST /v1/notifications/{id}/read`
pub async fn read(
    State(app): State<App>,
    person: Person,
    In(id): In<NotificationId>,
) -> ApiResult<Found<NotificationView>> {
    let was = app.store.notifications().find(person.id(), id).await?;
    let was = was.ok_or_else(Problem::not_found)?;
    if was.is_read {
        person.nothing_changed();
        return Ok(Found(was.record.into()));
    }
    person.visit.not_for_the_log();
    let now = app.store.notifications().mark_read(&was).await?;
    Ok(Found(now.record.into()))
}

/// `POST /v1/notifications/read-all`
pub async fn read_all(State(app): State<App>, person: Person) -> ApiResult<Found<UnreadCount>> {
    person.visit.not_for_the_log();
    app.store.notifications().mark_all_read(person.id()).await?;
    let unread = app.store.notifications().count_unread(person.id()).await?;
    Ok(Found(UnreadCount { unread }))
}

#[cfg(test)]
mod tests;
