//! Proof once more: what decides how somebody signs in needs more than a session, which may be a
//! browser that was left open or a token that was stolen.

use std::time::Duration;

use super::change_password::prove;
use crate::call::ApiResult;
use crate::caller::Person;
use crate::problem::{Code, Problem};
use crate::router::App;

/// For as long, having signed in is proof enough.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// The password, where it is said; otherwise they must have signed in just now.
pub(crate) async fn require(app: &App, person: &Person, password: Option<&str>) -> ApiResult<()> {
    match password {
        Some(password) => prove(app, person, password).await,
        None => require_fresh(app, person),
    }
}

/// The password of whoever has one, also just after signing in.
pub(crate) async fn require_password(
    app: &App,
    person: &Person,
    password: Option<&str>,
) -> ApiResult<()> {
    match person.user.password_hash {
        Some(_) => prove(app, person, password.unwrap_or_default()).await,
        None => require_fresh(app, person),
    }
}

fn require_fresh(app: &App, person: &Person) -> ApiResult<()> {
    match app.env.now().saturating_since(person.session.created_at) <= FRESH {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            match person.user.password_hash {
                Some(_) => {
                    "Say your password, or sign in again: that was more than ten minutes ago."
                }
                None => "Sign in again first: that was more than ten minutes ago.",
            },
        )),
    }
}
