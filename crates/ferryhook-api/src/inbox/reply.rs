//! Replies to leases: done, not done, still at it.
//!
//! One lease by its token is answered as one thing, many are answered each by itself. Whoever has
//! no token says which event they mean, and the reply counts whoever has leased it.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ferryhook_core::id::EventId;
use ferryhook_core::inbox::{Replied, Reply, Token};
use ferryhook_core::limits as bounds;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lease::visibility;
use super::span::Span;
use super::view::{Replies, ReplyLine};
use crate::call::{ApiResult, Describes, In, MaybeSent, Sent};
use crate::caller::Caller;
use crate::openapi::Sketch;
use crate::owned;
use crate::problem::{Code, FieldError, Problem};
use crate::router::App;

/// Which leases: one as `token`, or up to 100 as `tokens`.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AckOrder {
    token: Option<String>,
    #[schema(min_items = 1, max_items = 100)]
    tokens: Option<Vec<String>>,
}

/// Which leases, and when others may have the events.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NackOrder {
    token: Option<String>,
    #[schema(min_items = 1, max_items = 100)]
    tokens: Option<Vec<String>>,
    /// At once if nothing is said; up to `7d`.
    #[schema(inline)]
    delay: Option<Span>,
    /// Its first 200 characters are kept with the event, for people.
    reason: Option<String>,
}

/// Which leases, and how long they are to be from now on.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtendOrder {
    token: Option<String>,
    #[schema(min_items = 1, max_items = 100)]
    tokens: Option<Vec<String>>,
    /// `30s` if nothing is said, up to `12h`.
    #[schema(inline)]
    visibility: Option<Span>,
}

/// In whose inbox.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AckEvent {
    /// `default` if nothing is said.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_-]+$")]
    group: Option<String>,
}

/// In whose inbox, and when others may have it.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NackEvent {
    /// `default` if nothing is said.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_-]+$")]
    group: Option<String>,
    /// At once if nothing is said; up to `7d`.
    #[schema(inline)]
    delay: Option<Span>,
    /// Its first 200 characters are kept with the event, for people.
    reason: Option<String>,
}

/// `POST /v1/inbox/ack`
pub async fn ack(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<AckOrder>,
) -> ApiResult<Heard<Replies>> {
    let named = Named::read(order.token, order.tokens)?;
    reply(&app, &caller, named, Reply::Ack).await
}

/// `POST /v1/inbox/nack`
pub async fn nack(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<NackOrder>,
) -> ApiResult<Heard<Replies>> {
    let named = Named::read(order.token, order.tokens)?;
    reply(&app, &caller, named, given_back(order.delay, order.reason)?).await
}

/// `POST /v1/inbox/extend`
pub async fn extend(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<ExtendOrder>,
) -> ApiResult<Heard<Replies>> {
    let named = Named::read(order.token, order.tokens)?;
    let visibility = visibility(order.visibility)?;
    reply(&app, &caller, named, Reply::Extend { visibility }).await
}

/// `POST /v1/events/{id}/ack`
pub async fn ack_event(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
    MaybeSent(order): MaybeSent<AckEvent>,
) -> ApiResult<Heard<ReplyLine>> {
    let order = order.unwrap_or_default();
    reply_to(&app, &caller, id, order.group.as_deref(), Reply::Ack).await
}

/// `POST /v1/events/{id}/nack`
pub async fn nack_event(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
    MaybeSent(order): MaybeSent<NackEvent>,
) -> ApiResult<Heard<ReplyLine>> {
    let order = order.unwrap_or_default();
    let reply = given_back(order.delay, order.reason)?;
    reply_to(&app, &caller, id, order.group.as_deref(), reply).await
}

async fn reply(
    app: &App,
    caller: &Caller,
    named: Named,
    reply: Reply,
) -> ApiResult<Heard<Replies>> {
    caller.not_for_the_log();
    // One that was named twice is replied to once.
    let mut unique: Vec<Token> = Vec::with_capacity(named.tokens.len());
    for token in &named.tokens {
        if !unique.contains(token) {
            unique.push(*token);
        }
    }
    let replied = app.fetching.reply(caller.account(), &unique, &reply).await?;
    let of = |token: &Token| {
        let place = unique.iter().position(|one| one == token)?;
        replied.get(place).copied()
    };
    let mut data = Vec::with_capacity(named.tokens.len());
    for token in &named.tokens {
        let replied = of(token).ok_or_else(Problem::internal)?;
        if named.is_one {
            require_heard(replied)?;
        }
        data.push(ReplyLine::of_token(token, replied));
    }
    Ok(Heard(Replies { data }))
}

async fn reply_to(
    app: &App,
    caller: &Caller,
    id: EventId,
    group: Option<&str>,
    reply: Reply,
) -> ApiResult<Heard<ReplyLine>> {
    let event = owned::event(app, caller, id).await?;
    let group = super::group("/group", group)?;
    caller.not_for_the_log();
    let replied = app.fetching.reply_to(&event, &group, &reply).await?;
    require_heard(replied)?;
    Ok(Heard(ReplyLine::of_event(id, replied)))
}

fn require_heard(replied: Replied) -> ApiResult<()> {
    match replied {
        Replied::Heard { .. } => Ok(()),
        Replied::Stale => Err(Problem::new(
            Code::Conflict,
            "The lease is over: somebody else has the event or had it, or it is settled.",
        )),
        Replied::Unknown => Err(Problem::not_found()),
    }
}

fn given_back(delay: Option<Span>, reason: Option<String>) -> ApiResult<Reply> {
    let most = bounds::INBOX_DELAY_MAX;
    let delay = Span::within(delay, "/delay", Duration::ZERO, Duration::ZERO..=most)?;
    Ok(Reply::Nack { delay, reason })
}

/// 200: what became of the replies. One that is about nothing in the inbox is 404.
#[derive(Debug, Clone)]
pub struct Heard<T>(T);

impl<T: Serialize> IntoResponse for Heard<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl<T: ToSchema> Describes for Heard<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<T>(StatusCode::OK, "What became of it.");
        sketch.may_fail(Code::NotFound);
    }
}

/// The leases that were named.
struct Named {
    tokens: Vec<Token>,
    /// By itself, so that what becomes of it is what becomes of the request.
    is_one: bool,
}

impl Named {
    fn read(token: Option<String>, tokens: Option<Vec<String>>) -> ApiResult<Self> {
        let most = bounds::INBOX_ITEMS_MAX;
        match (token, tokens) {
            (Some(token), None) => {
                let token = token.parse();
                let token =
                    token.map_err(|error| Problem::invalid("/token", format!("{error}")))?;
                Ok(Self { tokens: vec![token], is_one: true })
            }
            (None, Some(tokens)) if (1..=most).contains(&tokens.len()) => {
                Ok(Self { tokens: understood(&tokens)?, is_one: false })
            }
            (None, Some(tokens)) => {
                let said = format!("must be 1 to {most}, not {}", tokens.len());
                Err(Problem::invalid("/tokens", said))
            }
            _ => Err(Problem::invalid("", "name one token, or a list of tokens")),
        }
    }
}

/// All of them, or what is wrong with each that is none.
fn understood(texts: &[String]) -> ApiResult<Vec<Token>> {
    let (mut tokens, mut wrong) = (Vec::with_capacity(texts.len()), Vec::new());
    for (place, text) in texts.iter().enumerate() {
        match text.parse::<Token>() {
            Ok(token) => tokens.push(token),
            Err(error) => {
                let (pointer, message) = (format!("/tokens/{place}"), error.to_string());
                wrong.push(FieldError { pointer, message });
            }
        }
    }
    if wrong.is_empty() { Ok(tokens) } else { Err(Problem::invalid_all(wrong)) }
}
