//! `POST /v1/events`: what an app has to tell, one event or many.
//!
//! They become events of the account's own source for this, and go the way of all others. Each is
//! stored or refused by itself, and each is answered.

mod body;
mod view;

use axum::extract::State;
use axum::http::HeaderMap;
use ferryhook_core::Source;
use ferryhook_core::trigger::{Posted, Unfit};
use ferryhook_store::repositories::Edit;

use crate::call::ApiResult;
use crate::caller::Caller;
use crate::problem::{Code, FieldError, Problem};
use crate::router::App;
use crate::works::Filed;
use crate::{idempotency, sources};
use body::{Post, Posts};

pub use view::{PostAnswer, PostedBatch, PostedEvent, PostedItem, PostedProblem};

/// `POST /v1/events`
pub async fn post(
    State(app): State<App>,
    caller: Caller,
    headers: PostHeaders,
    posts: Posts,
) -> ApiResult<PostAnswer> {
    caller.not_for_the_log();
    match posts {
        Posts::One(post) => {
            let posted = checked(&app, *post, headers.key.as_deref(), None)?;
            let filed = file(&app, &caller, vec![posted]).await?.pop();
            let filed = filed.ok_or_else(Problem::internal)??;
            let event = shown(&app, filed).await?;
            Ok(if event.duplicate { PostAnswer::Known(event) } else { PostAnswer::New(event) })
        }
        Posts::Many(posts) => several(&app, &caller, headers.key.as_deref(), posts).await,
    }
}

async fn several(
    app: &App,
    caller: &Caller,
    key: Option<&str>,
    posts: Vec<Result<Post, Problem>>,
) -> ApiResult<PostAnswer> {
    let mut items: Vec<Option<PostedItem>> = Vec::with_capacity(posts.len());
    let mut good = Vec::new();
    for (place, post) in posts.into_iter().enumerate() {
        match post.and_then(|post| checked(app, post, key, Some(place))) {
            Ok(posted) => {
                good.push(posted);
                items.push(None);
            }
            Err(problem) => items.push(Some(PostedItem::refused(&problem))),
        }
    }
    let filed = if good.is_empty() { Vec::new() } else { file(app, caller, good).await? };
    let mut filed = filed.into_iter();
    let mut data = Vec::with_capacity(items.len());
    for item in items {
        data.push(match item {
            Some(item) => item,
            None => {
                let filed = filed.next().ok_or_else(Problem::internal)?;
                let event = match filed {
                    Ok(filed) => shown(app, filed).await,
                    Err(problem) => Err(problem),
                };
                event.map_or_else(|problem| PostedItem::refused(&problem), PostedItem::filed)
            }
        });
    }
    Ok(PostAnswer::Several(PostedBatch { data }))
}

/// What they posted, if it is what it should be. Without a name of its own it has the one of the
/// request, so that a repeated request brings nothing twice.
fn checked(
    app: &App,
    post: Post,
    key: Option<&str>,
    place: Option<usize>,
) -> Result<Posted, Problem> {
    let of_request = || match (key, place) {
        (Some(key), Some(place)) => Some(format!("request:{key}#{place}")),
        (Some(key), None) => Some(format!("request:{key}")),
        (None, _) => None,
    };
    let own = post.event_id.is_none().then(of_request).flatten();
    let posted = Posted {
        event_type: post.event_type,
        payload: post.payload,
        occurred_at: post.timestamp,
        metadata: post.metadata,
        key: post.event_id,
    };
    posted.check(app.env.now()).map_err(|wrong| {
        let pointer =
            |Unfit { field, reason }| FieldError { pointer: format!("/{field}"), message: reason };
        Problem::invalid_all(wrong.into_iter().map(pointer).collect())
    })?;
    let key = posted.key.map(|key| format!("event:{key}")).or(own);
    Ok(Posted { key, ..posted })
}

async fn file(
    app: &App,
    caller: &Caller,
    posted: Vec<Posted>,
) -> ApiResult<Vec<Result<Filed, Problem>>> {
    let (source, sender) = (Source::triggers_id(caller.account()), caller.visit().address);
    match app.works.post(source, posted.clone(), sender).await.map_err(Problem::from) {
        Err(problem) if problem.code() == Code::NotFound => {}
        other => return other,
    }
    let new = Source::triggers(caller.owner(), caller.account(), app.env.now());
    let edits = [Edit::CreateSource(new)];
    match app.store.sources().edit(&edits).await {
        Ok(()) => {}
        Err(error) if error.is_refused() => {} // another was faster
        Err(error) => return Err(error.into()),
    }
    sources::ring(app, &edits);
    Ok(app.works.post(source, posted, sender).await?)
}

async fn shown(app: &App, filed: Filed) -> Result<PostedEvent, Problem> {
    let first = match filed {
        Filed::New(event) => return Ok(PostedEvent::new(&event, false)),
        Filed::Known(first) => first,
    };
    let found = match first {
        Some(first) => app.store.events().find(first).await?,
        None => None,
    };
    let gone = "This event came before, and is not kept any more.";
    let found = found.ok_or_else(|| Problem::new(Code::Conflict, gone))?;
    Ok(PostedEvent::new(&found, true))
}

/// What the headers say about the request as a whole.
#[derive(Debug, Clone)]
pub struct PostHeaders {
    key: Option<String>,
}

impl PostHeaders {
    fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self { key: idempotency::key(headers)? })
    }
}

#[cfg(test)]
mod tests;
