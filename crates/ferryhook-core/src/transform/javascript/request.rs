//! What a handler is called with, in the words of its dialect.

use std::borrow::Cow;

use rquickjs::{Ctx, Function, Object, Value};
use serde_json::json;

use crate::transform::json::Json;
use crate::transform::{Fault, incoming};
use crate::{Event, Headers, Map};

/// Whose way of writing transforms it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `addHandler("transform", (request, context) => request)`
    Request,
    /// `function handler(webhook)`
    Webhook,
    /// `function transform(payload)`
    Payload,
}

/// The body, as scripts see it.
#[derive(Debug)]
pub(super) struct Given<'e> {
    pub(super) text: Cow<'e, str>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// There is none: `null`.
    Empty,
    Json,
    /// A string.
    Text,
}

/// A handler's argument, with what it takes to see what the handler changed.
pub(super) struct Request<'js> {
    arguments: Vec<Value<'js>>,
    pub(super) body: Value<'js>,
    pub(super) headers: Map,
    /// As JSON: the headers, and the fields of the query.
    pub(super) headers_text: String,
    pub(super) fields_text: String,
}

impl<'e> Given<'e> {
    pub(super) fn of(event: &'e Event) -> Result<Self, Fault> {
        let Some(text) = incoming::text(event) else {
            return Err(Fault::Body(
                "it is not text (UTF-8), and a script cannot see it".to_owned(),
            ));
        };
        let begins = text.trim_start().as_bytes().first().copied();
        let may_be_json = incoming::is_json(event)
            || event.body.is_empty()
            || matches!(begins, Some(b'{' | b'['));
        let kind = match begins {
            None => Kind::Empty,
            Some(_) if may_be_json && Json::read(&text).is_ok() => Kind::Json,
            Some(_) => Kind::Text,
        };
        Ok(Self { text, kind })
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn value<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        match self.kind {
            Kind::Empty => Ok(Value::new_null(ctx.clone())),
            Kind::Json => ctx.json_parse(&*self.text),
            Kind::Text => rquickjs::String::from_str(ctx.clone(), &self.text)
                .map(rquickjs::String::into_value),
        }
    }

    pub(super) fn request<'js>(
        &self,
        ctx: &Ctx<'js>,
        dialect: Dialect,
        event: &Event,
    ) -> rquickjs::Result<Request<'js>> {
        let body = self.value(ctx)?;
        if dialect == Dialect::Payload {
            let arguments = vec![body.clone()];
            let (headers, headers_text, fields_text) = Default::default();
            return Ok(Request { arguments, body, headers, headers_text, fields_text });
        }
        let headers = headers(&event.headers);
        let headers_text = text(&headers);
        let headers_value = ctx.json_parse(headers_text.as_str())?;
        let (arguments, fields_text) = match dialect {
            Dialect::Request => {
                let fields_text = text(&fields(event.query.as_deref().unwrap_or_default()));
                let request = Object::new(ctx.clone())?;
                request.set("headers", headers_value)?;
                request.set("body", body.clone())?;
                request.set("query", event.query.as_deref().unwrap_or_default())?;
                request.set("parsed_query", ctx.json_parse(fields_text.as_str())?)?;
                request.set("path", event.path.as_deref().unwrap_or_default())?;
                request.set("method", method(event))?;
                let context = json!({
                    "event_id": event.id,
                    "event_type": event.event_type,
                    "source_id": event.source_id,
                    "received_at": event.received_at,
                });
                let context = ctx.json_parse(context.to_string())?;
                (vec![request.into_value(), context], fields_text)
            }
            _ => {
                let webhook = Object::new(ctx.clone())?;
                webhook.set("method", method(event))?;
                webhook.set("url", url(event))?;
                webhook.set("eventType", event.event_type.as_deref())?;
                webhook.set("payload", body.clone())?;
                webhook.set("headers", headers_value)?;
                webhook.set("cancel", false)?;
                (vec![webhook.into_value()], String::new())
            }
        };
        Ok(Request { arguments, body, headers, headers_text, fields_text })
    }
}

impl<'js> Request<'js> {
    pub(super) fn call(&self, handler: &Function<'js>) -> rquickjs::Result<Value<'js>> {
        handler.call((rquickjs::function::Rest(self.arguments.clone()),))
    }
}

pub(super) fn method(event: &Event) -> &str {
    event.method.as_deref().unwrap_or("POST")
}

/// What follows the address of the destination.
pub(super) fn url(event: &Event) -> String {
    let path = event.path.as_deref().unwrap_or_default();
    match event.query.as_deref().filter(|query| !query.is_empty()) {
        None => path.to_owned(),
        Some(query) => format!("{path}?{query}"),
    }
}

/// Names in lower case; what comes more than once is one value with commas.
fn headers(headers: &Headers) -> Map {
    let mut map = Map::new();
    for (name, value) in headers.iter() {
        let name = name.to_ascii_lowercase();
        match map.get_mut(&name) {
            Some(serde_json::Value::String(before)) => {
                before.push_str(", ");
                before.push_str(value);
            }
            _ => {
                map.insert(name, value.into());
            }
        }
    }
    map
}

/// A name that comes more than once has a list.
fn fields(query: &str) -> Map {
    let mut map = Map::new();
    for (name, value) in incoming::pairs(query) {
        match map.get_mut(&*name) {
            None => {
                map.insert(name.into_owned(), (*value).into());
            }
            Some(serde_json::Value::Array(values)) => values.push((*value).into()),
            Some(first) => *first = json!([first, value]),
        }
    }
    map
}

fn text(map: &Map) -> String {
    serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned())
}
