//! A browser: it keeps its cookie and its access token, and shows both.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use ferryhook_core::Env;
use ferryhook_core::env::ManualClock;
use ferryhook_net::Peer;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

use crate::auth::{Auth, Signup};
use crate::{App, router, trial};

pub(super) const EMAIL: &str = "ada@example.com";
pub(super) const PASSWORD: &str = "correct horse 7";

#[derive(Clone)]
pub(super) struct Browser {
    pub(super) app: App,
    pub(super) cookie: Option<String>,
    pub(super) access: Option<String>,
    pub(super) address: IpAddr,
}

#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Said {
    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{:?}", self.body);
        self.body
    }
}

pub(super) fn server() -> (App, Arc<ManualClock>) {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    (trial::app_in(env), clock)
}

/// The same server, with something decided otherwise.
pub(super) fn with(app: &App, change: impl FnOnce(&mut Auth)) -> App {
    let mut auth = trial::auth(&app.store, &app.env, &app.tasks);
    change(&mut auth);
    App { auth: Arc::new(auth), ..app.clone() }
}

impl Browser {
    pub(super) fn of(app: &App) -> Self {
        let address = IpAddr::from([192, 0, 2, 7]);
        Self { app: app.clone(), cookie: None, access: None, address }
    }

    /// Somebody new, who is in.
    pub(super) async fn signed_up() -> (Self, Arc<ManualClock>) {
        let (app, clock) = server();
        let mut browser = Self::of(&app);
        browser.sign_up(EMAIL).await.expect(201);
        (browser, clock)
    }

    /// On the same server, and nobody yet.
    pub(super) fn another(&self) -> Self {
        Self::of(&self.app)
    }

    pub(super) async fn sign_up(&mut self, email: &str) -> Said {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada" });
        self.post("/v1/auth/signup", body).await
    }

    pub(super) async fn log_in(&mut self, password: &str) -> Said {
        self.post("/v1/auth/login", json!({ "email": EMAIL, "password": password })).await
    }

    pub(super) async fn refresh(&mut self) -> Said {
        self.call("POST", "/v1/auth/refresh", None, &[]).await
    }

    pub(super) async fn get(&mut self, path: &str) -> Said {
        self.call("GET", path, None, &[]).await
    }

    pub(super) async fn post(&mut self, path: &str, body: Value) -> Said {
        self.call("POST", path, Some(body), &[]).await
    }

    pub(super) async fn delete(&mut self, path: &str) -> Said {
        self.call("DELETE", path, None, &[]).await
    }

    pub(super) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Said {
        let mut request = Request::builder().method(method).uri(path).header("host", "trial");
        request = request.extension(Peer(SocketAddr::new(self.address, 4444)));
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        if let Some(access) = &self.access {
            request = request.header("authorization", format!("Bearer {access}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let response = router(self.app.clone()).oneshot(request.body(body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if let Some(cookie) = parts.headers.get("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookie = Some(pair.to_owned()).filter(|pair| !pair.ends_with('='));
        }
        if let Some(access) = body.get("accessToken").and_then(Value::as_str) {
            self.access = Some(access.to_owned());
        }
        Said { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Waits until everything that requests have set off is done.
    pub(super) async fn settle(&mut self) {
        let tasks = &self.app.tasks;
        assert_eq!(tasks.finish(Duration::from_secs(10)).await, 0);
    }

    /// The subject of the newest letter, and the ticket in its link.
    pub(super) async fn ticket_in_mail(&mut self) -> (String, String) {
        self.settle().await;
        let kept = self.app.auth.mail.kept();
        let (_, letter) = kept.first().expect("a letter");
        let text = letter.text.expose();
        let link = text.split_whitespace().find(|word| word.contains("?token=")).expect("a link");
        let ticket = link.split("token=").nth(1).unwrap().to_owned();
        (letter.subject.clone(), ticket)
    }
}

pub(super) fn closed(app: &App, signup: Signup) -> App {
    with(app, |auth| auth.settings.signup = signup)
}

/// A server whose letters reach people: what they answer proves that an address is theirs.
pub(super) fn with_mail(app: &App) -> App {
    with(app, |auth| auth.settings.verifies_addresses = true)
}
