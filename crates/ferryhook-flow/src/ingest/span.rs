//! The span of a request at the door, for those who collect traces.

use std::time::Duration;

use ferryhook_core::traceparent::{self, Traceparent};
use ferryhook_core::{Account, Env, Event, Id, Source, Timestamp};
use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, Request, StatusCode};

use super::address;
use super::answer::Told;
use crate::trace::{self, Kind, Sink, Span, Value, text};

const ROUTE: &str = "/in/{source_id}";
/// No name is longer.
const HOST_BYTES_MAX: usize = 255;

/// A request that will be a span once it is answered.
pub(super) struct Begun<'a> {
    sink: &'a Sink,
    at: Timestamp,
    method: Method,
    host: Option<String>,
    source: Option<Id<Source>>,
    arrived: Option<Traceparent>,
}

/// Whose the events are that a request brought, and what became of them.
pub(super) struct LetIn {
    pub(super) account: Id<Account>,
    pub(super) told: Vec<Told>,
}

impl<'a> Begun<'a> {
    /// Nothing for a request whose trace nobody looks at.
    pub(super) fn of<B>(request: &Request<B>, sink: &'a Sink, at: Timestamp) -> Option<Box<Self>> {
        let arrived = arrived(request.headers());
        if arrived.is_some_and(|arrived| !arrived.is_sampled()) {
            return None;
        }
        Some(Box::new(Self {
            sink,
            at,
            method: request.method().clone(),
            host: host(request),
            source: address::parse(request.uri().path()).map(|(id, _)| id),
            arrived,
        }))
    }

    pub(super) fn end(self, status: StatusCode, let_in: Option<&LetIn>, took: Duration, env: &Env) {
        let told = let_in.map_or(&[][..], |let_in| &let_in.told);
        let mut events = told.iter().filter(|told| !told.is_duplicate).filter_map(|told| told.id);
        let first = events.next();
        let own = match (first, self.arrived) {
            (Some(event), arrived) => trace::origin(event, arrived),
            (None, Some(arrived)) => arrived.child(trace::random(env)),
            (None, None) => Traceparent::root(trace::random(env), trace::random(env), true),
        };
        let account = let_in.map(|let_in| let_in.account);
        self.sink.put(self.request(own, status, account, told, took));
        for event in events {
            self.sink.put(self.one_of_several(event, own, account, took));
        }
    }

    fn request(
        &self,
        own: Traceparent,
        status: StatusCode,
        account: Option<Id<Account>>,
        told: &[Told],
        took: Duration,
    ) -> Span {
        let (method, name) = trace::method_names(&self.method);
        let mut attributes = vec![
            ("http.request.method", Value::Text(method.into())),
            ("http.route", Value::Text(ROUTE.into())),
            ("url.scheme", Value::Text("http".into())),
            ("http.response.status_code", Value::Number(status.as_u16().into())),
        ];
        if let Some(source) = self.source {
            // What senders put behind it may be meant for the receiver alone.
            attributes.push(("url.path", Value::Text(format!("/in/{source}").into())));
        }
        if let Some(host) = &self.host {
            attributes.push(("server.address", text(host)));
        }
        let fresh = told.iter().find(|told| !told.is_duplicate);
        if let Some(event) = fresh.or(told.first()).and_then(|told| told.id) {
            attributes.push(("ferryhook.event.id", text(&event)));
        }
        if !told.is_empty() && fresh.is_none() {
            attributes.push(("ferryhook.event.duplicate", Value::Flag(true)));
        }
        attributes.extend(self.ours(account));
        let error = status.is_server_error().then(|| status.as_str().to_owned().into());
        Span {
            trace_id: own.trace_id(),
            span_id: own.span_id(),
            parent: self.arrived.map(|arrived| arrived.span_id()),
            links: Vec::new(),
            name: format!("{name} {ROUTE}").into(),
            kind: Kind::Server,
            start: self.at,
            took,
            attributes,
            error,
        }
    }

    /// Every event has a span that its attempts can point to, also where a request held many.
    fn one_of_several(
        &self,
        event: Id<Event>,
        request: Traceparent,
        account: Option<Id<Account>>,
        took: Duration,
    ) -> Span {
        let own = trace::origin(event, self.arrived);
        let mut attributes = vec![("ferryhook.event.id", text(&event))];
        attributes.extend(self.ours(account));
        Span {
            trace_id: own.trace_id(),
            span_id: own.span_id(),
            parent: self.arrived.map(|_| request.span_id()),
            links: vec![trace::link(request)],
            name: "one event of several".into(),
            kind: Kind::Internal,
            start: self.at,
            took,
            attributes,
            error: None,
        }
    }

    fn ours(&self, account: Option<Id<Account>>) -> impl Iterator<Item = (&'static str, Value)> {
        let source = self.source.map(|source| ("ferryhook.source.id", text(&source)));
        source.into_iter().chain(account.map(|account| ("ferryhook.account.id", text(&account))))
    }
}

/// As [`Traceparent::of`] will read it from the event: two of them contradict each other.
fn arrived(headers: &HeaderMap) -> Option<Traceparent> {
    let mut values = headers.get_all(traceparent::HEADER).into_iter();
    let value = values.next()?;
    values.next().is_none().then(|| Traceparent::parse(value.to_str().ok()?))?
}

fn host<B>(request: &Request<B>) -> Option<String> {
    let written = || request.headers().get(HOST)?.to_str().ok()?.parse::<Authority>().ok();
    let authority = request.uri().authority().cloned().or_else(written)?;
    let host = authority.host();
    (host.len() <= HOST_BYTES_MAX).then(|| host.to_owned())
}
