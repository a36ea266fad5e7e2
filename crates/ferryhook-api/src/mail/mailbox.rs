//! The mailbox of `ferryhook dev`: the last letters, for the one person at this machine.
//!
//! Letters are shown as text and nothing in them is run. A server for others has no such page.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use ferryhook_core::Timestamp;
use serde_json::json;

use super::{Letter, Mailer};
use crate::html::{self, escape};

pub const PATH: &str = "/_dev/mailbox";
const KEPT_MAX: usize = 50;

#[derive(Debug, Default)]
pub(super) struct Mailbox(Mutex<VecDeque<(Timestamp, Letter)>>);

impl Mailbox {
    pub(super) fn put(&self, letter: Letter, at: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((at, letter));
        kept.truncate(KEPT_MAX);
    }

    pub(super) fn look(&self) -> Vec<(Timestamp, Letter)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect()
    }
}

pub fn router(mailer: Mailer) -> Router {
    Router::new().route(PATH, get(show)).with_state(mailer)
}

async fn show(State(mailer): State<Mailer>, headers: HeaderMap) -> Response {
    let kept = mailer.kept();
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("application/json")) {
        let letters = kept.iter().map(|(at, letter)| {
            let Letter { to, subject, text } = letter;
            json!({ "at": at, "to": to, "subject": subject, "text": text.expose() })
        });
        return Json(json!({ "data": letters.collect::<Vec<_>>() })).into_response();
    }
    let mut body = String::new();
    for (at, Letter { to, subject, text }) in &kept {
        let (to, subject, text) = (escape(to), escape(subject), escape(text.expose()));
        body += &format!("<h2>{subject}</h2><p>{at} to {to}</p><pre>{text}</pre>");
    }
    if body.is_empty() {
        body = "<p>No letter was written since this server started.</p>".to_owned();
    }
    html::page("Mailbox", &body)
}
