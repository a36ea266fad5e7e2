//! `/v1/auth/sessions`: where somebody is signed in, and how they end that.

use axum::extract::State;
use ferryhook_core::{Id, Map, Session, User};
use ferryhook_store::{Slice, Store, StoreError};

use super::entry::Tries;
use super::view::SessionView;
use crate::call::{ApiResult, Done, In, Listed};
use crate::caller::Person;
use crate::limits;
use crate::page::Page;
use crate::problem::Problem;
use crate::router::App;

/// All of them: there are never more than a page.
pub async fn list(State(app): State<App>, person: Person) -> ApiResult<Listed<SessionView>> {
    let slice = Slice::default().limit(limits::PAGE_MAX);
    let mut sessions = app.store.sessions().list(person.id(), slice).await?.rows;
    sessions.retain(|session| session.counts_for(&person.user, app.env.now()));
    sessions.sort_unstable_by_key(|session| std::cmp::Reverse(session.last_used_at));
    let current = person.session.id;
    let views = sessions.iter().map(|session| SessionView::of(session, current));
    Ok(Listed(Page::whole(views.collect())))
}

pub async fn end(
    State(app): State<App>,
    person: Person,
    In(id): In<Id<Session>>,
) -> ApiResult<Done> {
    let session = app.store.sessions().find(person.id(), id).await?;
    let session = session.ok_or_else(Problem::not_found)?;
    let store = person.noting(&app, "session_ended", "session", id.as_str(), Map::new());
    store.sessions().end(&session).await?;
    Ok(Done)
}

/// Everywhere but here.
pub async fn end_others(State(app): State<App>, person: Person) -> ApiResult<Done> {
    let id = person.id().to_string();
    let store = person.noting(&app, "sessions_ended", "user", &id, Map::new());
    end_others_with(&app, &store, &person, |user| user).await?;
    Ok(Done)
}

/// Together with a change of the user, as one commit.
pub(crate) async fn end_others_with(
    app: &App,
    store: &Store,
    person: &Person,
    change: impl Fn(User) -> User,
) -> ApiResult<()> {
    let mut user = person.user.clone();
    let mut tries = Tries::default();
    let kept = person.session.id;
    loop {
        // This session may have been renewed by another window since the request came.
        let session = app.store.sessions().find(person.id(), kept).await?;
        let session = session.ok_or_else(Problem::not_found)?;
        let epoch = user.session_epoch.saturating_add(1);
        let now = User { session_epoch: epoch, ..change(user.record.clone()) };
        let own = Session { epoch, ..session.record.clone() };
        match store.sessions().end_others(&user, now, (&session, &own)).await {
            Ok(_) => break,
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
    Ok(sweep(app, person.id(), Some(kept)).await?)
}

/// Takes away the rows of sessions that count no more. They would open nothing anyway.
pub(crate) async fn sweep(
    app: &App,
    user: Id<User>,
    kept: Option<Id<Session>>,
) -> Result<(), StoreError> {
    let slice = Slice::default().limit(limits::PAGE_MAX);
    let sessions = app.store.sessions().list(user, slice).await?.rows;
    for session in sessions.iter().filter(|session| Some(session.id) != kept) {
        match app.store.sessions().end(session).await {
            Err(error) if !error.is_refused() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
