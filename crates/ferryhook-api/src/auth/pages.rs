//! The pages behind links: setting up, joining, confirming an address, choosing a new password.
//!
//! Each is a form with a button and works without a script. Opening one changes nothing: mail
//! programs open links by themselves. What the button does is what the API does.

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::reset_password::{self, NewPassword};
use super::setup::{self, SetUp};
use super::signup::{self, NewUser, SignedUp};
use super::verify_email;
use crate::call::{ApiResult, Sent};
use crate::html::{escape, page, page_with};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::Visit;

/// A few short fields.
const FORM_BYTES_MAX: usize = 16 * 1024;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route(setup::PATH, get(show_setup).post(set_up))
        .route("/verify-email", get(show_verify).post(verify))
        .route("/reset-password", get(show_reset).post(reset))
        .route("/invitation", get(show_invitation).post(join))
}

/// What a link carries.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Link {
    token: String,
}

async fn show_setup(Query(Link { token }): Query<Link>) -> Response {
    let token = escape(&token);
    page(
        "Set up Ferryhook",
        &format!(
            "<p>Whoever fills this in owns this installation. The link is good once.</p>\
             <form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
             <p><label>Name <input name=\"name\" autocomplete=\"name\"></label>\
             <p><label>Address <input name=\"email\" type=\"email\" required \
             autocomplete=\"username\"></label>{PASSWORD}<p><button>Set up</button></form>"
        ),
    )
}

const PASSWORD: &str = "<p><label>Password <input name=\"password\" type=\"password\" required \
                        minlength=\"8\" autocomplete=\"new-password\"></label> at least 8 \
                        characters, at most 72 bytes";

async fn set_up(State(app): State<App>, request: Request) -> Response {
    let done = async {
        let visit = Visit::of(&request, &app);
        let fields = form(request).await?;
        let claim = SetUp {
            token: fields.get("token"),
            email: fields.get("email"),
            password: fields.get("password"),
            name: Some(fields.get("name")),
        };
        setup::enter(&app, &visit, &claim).await
    };
    match done.await {
        Ok(entered) => {
            let email = escape(&entered.body.user.email);
            let mut response = page(
                "Ferryhook is set up",
                &format!("<p>It belongs to {email} now. You can close this page and sign in.</p>"),
            );
            if let Some(cookie) = entered.cookie {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(problem) => failed(&problem),
    }
}

async fn show_verify(Query(Link { token }): Query<Link>) -> Response {
    let token = escape(&token);
    page(
        "Confirm your address",
        &format!(
            "<form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
             <p><button>This address is mine</button></form>"
        ),
    )
}

async fn verify(State(app): State<App>, request: Request) -> Response {
    let done = async {
        let visit = Visit::of(&request, &app);
        let fields = form(request).await?;
        verify_email::redeem(&app, &visit, &fields.get("token")).await
    };
    match done.await {
        Ok(()) => page("Your address is confirmed", "<p>You can sign in now.</p>"),
        Err(problem) => failed(&problem),
    }
}

async fn show_reset(Query(Link { token }): Query<Link>) -> Response {
    let token = escape(&token);
    page(
        "Choose a new password",
        &format!(
            "<form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
             {PASSWORD}<p><button>Take this password</button></form>"
        ),
    )
}

async fn reset(State(app): State<App>, request: Request) -> Response {
    let done = async {
        let visit = Visit::of(&request, &app);
        let fields = form(request).await?;
        let body = NewPassword { token: fields.get("token"), password: fields.get("password") };
        reset_password::redeem(&app, &visit, &body).await
    };
    match done.await {
        Ok(()) => page("Your password is changed", "<p>You can sign in with it now.</p>"),
        Err(problem) => failed(&problem),
    }
}

/// Signing up is what most need; whoever has a user already accepts with that.
async fn show_invitation(Query(Link { token }): Query<Link>) -> Response {
    let token = escape(&token);
    page(
        "Join an account",
        &format!(
            "<p>If you have a user here under the address that was invited, sign in and send \
             this token to <code>POST /v1/invitations/accept</code>: <code>{token}</code></p>\
             <p>If not, sign up:</p>\
             <form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
             <p><label>Name <input name=\"name\" autocomplete=\"name\"></label>\
             <p><label>Address, as it was invited <input name=\"email\" type=\"email\" required \
             autocomplete=\"username\"></label>{PASSWORD}<p><button>Sign up</button></form>"
        ),
    )
}

async fn join(State(app): State<App>, request: Request) -> Response {
    let done = async {
        let visit = Visit::of(&request, &app);
        let fields = form(request).await?;
        let user = NewUser {
            email: fields.get("email"),
            password: fields.get("password"),
            name: Some(fields.get("name")),
            account_name: None,
            invitation_token: Some(fields.get("token")),
        };
        signup::sign_up(State(app.clone()), visit, Sent(user)).await
    };
    match done.await {
        Ok(SignedUp::In(_)) => page("You are in", "<p>You can sign in now.</p>"),
        Ok(SignedUp::Asked(_)) => page("Almost in", "<p>Look into your mail.</p>"),
        Err(problem) => failed(&problem),
    }
}

struct Fields(Vec<(String, String)>);

impl Fields {
    /// Empty if it is not there.
    fn get(&self, name: &str) -> String {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

async fn form(request: Request<Body>) -> ApiResult<Fields> {
    if !is_form(request.headers()) {
        return Err(Problem::new(Code::UnsupportedMediaType, "Only a form is taken here."));
    }
    let bytes = axum::body::to_bytes(request.into_body(), FORM_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| Problem::new(Code::PayloadTooLarge, "The form is too large."))?;
    Ok(Fields(url::form_urlencoded::parse(&bytes).into_owned().collect()))
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
}

fn failed(problem: &Problem) -> Response {
    let status = problem.clone().into_response().status();
    let mut body = format!("<p>{}</p>", escape(problem.detail()));
    for error in problem.errors() {
        let field = escape(error.pointer.trim_start_matches('/'));
        body += &format!("<p>{field}: {}</p>", escape(&error.message));
    }
    page_with(status, "That did not work", &body)
}
