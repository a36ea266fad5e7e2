//! Which user somebody is who was signed in by a platform.
//!
//! Whoever was here before by that platform; else whoever has shown that the address is theirs,
//! who is linked from then on; else somebody new, where new users are taken. A user who has not
//! shown that the address is theirs may be somebody else who wrote it down first: they are not
//! handed to anybody.

use ferryhook_core::user::Identity;
use ferryhook_core::{Map, User, user};
use ferryhook_store::{Stored, UniqueError};

use super::platform::Somebody;
use super::{name, word};
use crate::auth::Signup;
use crate::auth::entry::Tries;
use crate::auth::signup::{self, Home};
use crate::billing::plans;
use crate::call::ApiResult;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

pub(super) async fn find_or_make(
    app: &App,
    visit: &Visit,
    at: Identity,
    somebody: &Somebody,
) -> ApiResult<Stored<User>> {
    // A second look, for whoever does the same in two windows at once.
    for _ in 0..3 {
        match look(app, visit, at, somebody).await? {
            Some(user) if user.status == user::Status::Active => return Ok(user),
            Some(_) => return Err(refuse("This user may not sign in.")),
            None => {}
        }
        make(app, visit, at, somebody).await?;
    }
    Err(Problem::new(Code::Conflict, "Somebody signed in as the same person just now. Try again."))
}

async fn look(
    app: &App,
    visit: &Visit,
    at: Identity,
    somebody: &Somebody,
) -> ApiResult<Option<Stored<User>>> {
    if let Some(user) = app.store.users().find_identity(at, &somebody.id).await? {
        return Ok(Some(user));
    }
    let Some(email) = &somebody.email else {
        let name = name(at);
        return Err(refuse(&format!(
            "{name} knows no verified address of yours, and you are new here."
        )));
    };
    let Some(mut user) = app.store.users().find_holder(email).await? else { return Ok(None) };
    let other = user.identity(at).is_some();
    if !user.email_verified || other {
        return Err(Problem::new(
            Code::Conflict,
            "There is an account with this address that is not linked to you. Sign in to it, or \
             ask for a new password.",
        ));
    }
    let id = user.id.to_string();
    let mut details = Map::new();
    details.insert("platform".to_owned(), word(at).into());
    let deed = Deed { event_type: "identity_linked", resource: "user", id: &id, details };
    let store = visit.noting_at_home(app, &user, deed).await?;
    let mut tries = Tries::default();
    loop {
        let linked = user.record.clone().with_identity(at, &somebody.id);
        match store.users().replace(&user, linked).await {
            Ok(user) => return Ok(Some(user)),
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
}

/// There is somebody afterwards: of two at once one makes them.
async fn make(app: &App, visit: &Visit, at: Identity, somebody: &Somebody) -> ApiResult<()> {
    if app.auth.settings.signup != Signup::Open {
        return Err(refuse("You have no account here, and this server takes no new ones."));
    }
    let email = signup::email(somebody.email.as_deref().unwrap_or_default())?;
    let name = somebody.name.as_deref().filter(|name| signup::name(Some(name), "", "").is_ok());
    let name = signup::name(name, &email, "/name")?;
    let mut home = Home::new(&app.env, email, name.clone(), &name, None);
    home.user.plan = plans::of_new_accounts(&app.store, signup::PLAN).await?;
    let user = User { email_verified: true, ..home.user }.with_identity(at, &somebody.id);
    let mut details = Map::new();
    details.insert("platform".to_owned(), word(at).into());
    let deed = Deed { event_type: "user_created", resource: "user", id: user.id.as_str(), details };
    let store = visit.noting(app, home.account.id, Some(user.id), deed);
    match store.users().sign_up(&user, &home.account, &home.member).await {
        Ok(()) | Err(UniqueError::Taken(_)) => Ok(()),
        Err(UniqueError::Store(error)) => Err(error.into()),
    }
}

fn refuse(detail: &str) -> Problem {
    Problem::new(Code::Forbidden, detail)
}
