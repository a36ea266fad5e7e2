//! `POST /webhooks/stripe`: Stripe says that something has changed.
//!
//! The signature shows that it is Stripe. What has changed is then asked of Stripe itself, so the
//! message matters only for whom it is about. Each is worked on once: the ledger knows which were.
//! One that could not be finished is given back, and Stripe sends it again.

use std::time::Duration;

use axum::extract::{FromRequest, Request, State};
use axum::http::HeaderMap;
use bytes::Bytes;
use ferryhook_core::verify::{self, NoCertificates, Verdict};
use ferryhook_core::{Headers, verify::Verifier};
use ferryhook_store::repositories::Claiming;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::objects::Message;
use super::reading;
use super::stripe::Stripe;
use crate::call::{self, ApiResult, Describes, Found};
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::Visit;

/// Longer than all calls of Stripe that one message can lead to.
const LEASE: Duration = Duration::from_secs(120);
/// Longer than anybody can have Stripe send a message again.
const KEPT: Duration = Duration::from_secs(45 * 24 * 60 * 60);
const ID_BYTES_MAX: usize = 255;

/// A message, as it was sent: only these bytes are signed.
#[derive(Debug)]
pub struct Letter {
    headers: HeaderMap,
    body: Bytes,
}

/// A message of Stripe, signed in the header `Stripe-Signature`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = StripeMessage)]
pub struct Described {
    pub id: String,
    pub r#type: String,
    #[schema(value_type = Object)]
    pub data: Value,
}

/// It was understood, or is none of our business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StripeMessageTold)]
pub struct Told {
    pub received: bool,
    /// It was here before.
    pub duplicate: bool,
}

/// `POST /webhooks/stripe`
pub async fn take(State(app): State<App>, visit: Visit, letter: Letter) -> ApiResult<Found<Told>> {
    let connected = app.billing.connected()?;
    verify(&connected.verifier, &letter, &app)?;
    let message: Message = serde_json::from_slice(&letter.body).map_err(|_| odd())?;
    if message.id.is_empty() || message.id.len() > ID_BYTES_MAX {
        return Err(odd());
    }
    // No key of ingest begins like this, and no consumer's.
    let key = format!("BILLING#stripe#{}", message.id);
    let ledger = app.store.ledger();
    let token = match ledger.claim(&key, LEASE, KEPT).await? {
        Claiming::Yours { token, .. } => token,
        Claiming::Done => {
            visit.nothing_changed();
            return Ok(Found(Told { received: true, duplicate: true }));
        }
        Claiming::Busy { .. } => {
            return Err(Problem::new(Code::Conflict, "This message is being worked on.").after(10));
        }
    };
    match work(&app, &connected.stripe, &visit, &message).await {
        Ok(()) => {
            ledger.complete(&key, token).await?;
            Ok(Found(Told { received: true, duplicate: false }))
        }
        Err(problem) => {
            if let Err(error) = ledger.release(&key, token).await {
                tracing::warn!(%error, stripe.event = message.id, "a message waits for its lease");
            }
            Err(problem)
        }
    }
}

async fn work(app: &App, stripe: &Stripe, visit: &Visit, message: &Message) -> ApiResult<()> {
    let (id, kind) = (&message.id, &message.kind);
    let found = match message.customer() {
        Some(customer) => app.store.subscriptions().find_by_customer(customer).await?,
        None => None,
    };
    let Some(found) = found else {
        tracing::debug!(stripe.event = id, kind, "a message is about nobody here");
        visit.not_for_the_log();
        return Ok(());
    };
    reading::read(app, stripe, visit, found.user_id).await?;
    tracing::info!(stripe.event = id, kind, user.id = %found.user_id, "asked Stripe how they stand");
    Ok(())
}

fn verify(verifier: &Verifier, letter: &Letter, app: &App) -> ApiResult<()> {
    let text = letter.headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    let headers: Headers = text.collect();
    let request =
        verify::Request { method: "POST", url: "", headers: &headers, body: &letter.body };
    match verifier.check(&request, app.env.now(), &NoCertificates) {
        Verdict::Valid => Ok(()),
        Verdict::Invalid(reason) => {
            tracing::warn!(%reason, "a message in Stripe's name was refused");
            let said = "The signature does not show that this is from Stripe, or it is too old.";
            Err(Problem::new(Code::Unauthorized, said))
        }
        Verdict::NeedsCertificate(_) => Err(Problem::internal()),
    }
}

fn odd() -> Problem {
    Problem::new(Code::Validation, "This is not a message as Stripe writes them.")
}

impl FromRequest<App> for Letter {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Ok(Self { headers: parts.headers, body: call::read(body).await? })
    }
}

impl Describes for Letter {
    fn describe(sketch: &mut Sketch) {
        sketch.header("Stripe-Signature", "Stripe's, over the bytes of the body.");
        sketch.takes::<Described>(true);
        sketch.may_fail(Code::Unauthorized);
    }
}
