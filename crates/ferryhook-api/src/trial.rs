//! An API to try things on: the real router over a store in memory, with people and keys.

use std::future::ready;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use ferryhook_core::key::{self, Permissions, PlainKey};
use ferryhook_core::member::{self, Role};
use ferryhook_core::{Account, Env, Id, Key, Map, Member, User, samples};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Client, Guard, Roots};
use ferryhook_store::Store;
use ferryhook_store::engine::memory::Memory;
use http_body_util::BodyExt;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use tower::ServiceExt;

use crate::auth::{self, Auth};
use crate::cursors::Cursors;
use crate::limiter::{Limiter, Rates};
use crate::mail::Mailer;
use crate::passwords::Passwords;
use crate::stream::Seats;
use crate::visit::Visit;
use crate::works::Nobody;
use crate::{App, Readiness, health, router};

pub(crate) struct Trial {
    pub(crate) app: App,
    pub(crate) user: User,
    pub(crate) account: Account,
    /// A key of an administrator.
    pub(crate) key: String,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The answer, if it is this one.
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        match self.text.is_empty() {
            true => Value::Null,
            false => self.json(),
        }
    }
}

pub(crate) fn app() -> App {
    app_in(Env::fixed("2026-01-01T00:00:00Z"))
}

/// The same, with a hand on what is stored.
pub(crate) fn app_on_memory() -> (App, Arc<Memory>) {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let engine = Arc::new(Memory::new(env.clone()));
    let store = Store::new(engine.clone(), env.clone());
    (app_over(env, store), engine)
}

pub(crate) fn app_in(env: Env) -> App {
    let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
    app_over(env, store)
}

fn app_over(env: Env, store: Store) -> App {
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || health::record_build("1.2.3"));
    let tasks = Tasks::new();
    App {
        auth: Arc::new(auth(&store, &env, &tasks)),
        billing: Arc::default(),
        limiter: Limiter::new(Rates::default(), env.clone()),
        store,
        env,
        guard: Guard::new(Vec::new()),
        readiness: Arc::new(Readiness::new(|| ready(Ok(())))),
        metrics: recorder.handle(),
        bell: Arc::new(|_| {}),
        cursors: Cursors::new(&[7; 32]),
        settings: Arc::default(),
        tasks,
        works: Arc::new(Nobody),
        turns: Arc::default(),
        streams: streams_that_end(),
        listening: Arc::new(Nobody),
        fetching: Arc::new(Nobody),
        waiters: Default::default(),
    }
}

/// At once: an answer is read to its end here.
fn streams_that_end() -> Seats {
    let streams = Seats::default();
    streams.close();
    streams
}

/// Open to everybody, with a mailbox to look into.
pub(crate) fn auth(store: &Store, env: &Env, tasks: &Tasks) -> Auth {
    let guard = Guard::new(Vec::new());
    let settings = auth::Settings {
        signup: auth::Signup::Open,
        base_url: "http://trial".to_owned(),
        verifies_addresses: false,
        issuer: "trial".to_owned(),
        github: None,
        google: None,
    };
    let client = Client::new(guard.clone(), env.clone(), tasks.clone(), Roots::default());
    let around = auth::Surroundings {
        store: store.clone(),
        env: env.clone(),
        tasks: tasks.clone(),
        mail: Mailer::to_mailbox(env.clone()),
        outbound: Arc::new(client),
        guard,
    };
    Auth { passwords: Passwords::cheap(env.clone()), ..Auth::new(settings, around) }
}

impl Trial {
    pub(crate) async fn new() -> Self {
        Self::over(app()).await
    }

    pub(crate) async fn over(app: App) -> Self {
        Self::of(app, "one@example.com").await
    }

    /// Another account on the same server, with an owner of its own.
    pub(crate) async fn neighbour(&self) -> Self {
        Self::of(self.app.clone(), "two@example.com").await
    }

    async fn of(app: App, email: &str) -> Self {
        let (env, now) = (&app.env, app.env.now());
        let (user_id, account_id) = (Id::new(env), Id::new(env));
        let user = User {
            id: user_id,
            email: email.to_owned(),
            default_account_id: account_id,
            github_id: None,
            google_id: None,
            ..samples::user()
        };
        let account = Account::root(account_id, "trial", user_id, now);
        let member = Member {
            user_id,
            account_id,
            role: Role::Admin,
            permissions: Map::new(),
            is_default: true,
            joined_at: now,
            invited_by: None,
            status: member::Status::Active,
        };
        app.store.users().sign_up(&user, &account, &member).await.unwrap();
        let mut trial = Self { app, user, account, key: String::new() };
        trial.key = trial.new_key(Permissions::Admin).await;
        trial
    }

    /// Somebody else in the same account, with a key of theirs.
    pub(crate) async fn colleague(&self, role: Role) -> Self {
        let (env, account) = (&self.app.env, self.account.clone());
        let id = Id::new(env);
        let user = User {
            id,
            email: format!("{id}@example.com"),
            default_account_id: account.id,
            github_id: None,
            google_id: None,
            ..samples::user()
        };
        let member = Member {
            user_id: id,
            account_id: account.id,
            role,
            permissions: Map::new(),
            is_default: true,
            joined_at: env.now(),
            invited_by: Some(self.user.id),
            status: member::Status::Active,
        };
        self.app.store.users().create(&user).await.unwrap();
        self.app.store.members().add(&member).await.unwrap();
        let mut colleague = Self { app: self.app.clone(), user, account, key: String::new() };
        colleague.key = colleague.new_key(Permissions::Admin).await;
        colleague
    }

    pub(crate) async fn new_key(&self, permissions: Permissions) -> String {
        let id = Id::new(&self.app.env);
        let text = PlainKey::generate(&self.app.env);
        let key = Key {
            id,
            user_id: self.user.id,
            account_id: self.account.id,
            name: "trial".to_owned(),
            hash: text.hash(),
            prefix: text.prefix(),
            permissions,
            operations: None,
            status: key::Status::Active,
            last_used_at: None,
            expires_at: None,
            created_at: self.app.env.now(),
            metadata: None,
        };
        self.app.store.keys().create(&key).await.unwrap();
        text.expose().to_owned()
    }

    /// What they have after signing in, for the header `authorization`.
    pub(crate) async fn bearer(&self) -> String {
        let visit = Visit::of(&Request::default(), &self.app);
        let user = self.app.store.users().find(self.user.id).await.unwrap().unwrap();
        let method = ferryhook_core::session::Method::Password;
        let entered = auth::entry::begin(&self.app, &visit, user, method, |user| user).await;
        format!("Bearer {}", entered.unwrap().body.access_token)
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        self.call("GET", path, None, &[]).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Said {
        self.call("POST", path, Some(body), &[]).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Said {
        self.call("PATCH", path, Some(body), &[]).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Said {
        self.call("DELETE", path, None, &[]).await
    }

    /// With the key of the administrator, unless the headers bring their own `authorization`.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Said {
        match body {
            Some(body) => {
                let json = [("content-type", "application/json")];
                let headers: Vec<_> = headers.iter().chain(&json).copied().collect();
                self.send_text(method, path, &body.to_string(), &headers).await
            }
            None => self.send_text(method, path, "", headers).await,
        }
    }

    /// The same with a body that may be anything.
    pub(crate) async fn send_text(
        &self,
        method: &str,
        path: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> Said {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {}", self.key));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Body::from(body.to_owned());
        let response = router(self.app.clone()).oneshot(request.body(body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Said { status: parts.status, headers: parts.headers, text }
    }
}
