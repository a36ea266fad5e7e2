//! What a transform gets to see of an event's body.

use std::borrow::Cow;

use crate::Event;
use crate::dedup::decoded;

/// The text that arrived, or the payload of what an app triggered, which has no body.
pub(super) fn text(event: &Event) -> Option<Cow<'_, str>> {
    match &event.payload {
        Some(payload) if event.body.is_empty() => {
            serde_json::to_string(payload).ok().map(Cow::Owned)
        }
        _ => event.body.as_text().map(Cow::Borrowed),
    }
}

pub(super) fn content_type(event: &Event) -> Option<&str> {
    event.content_type.as_deref().or_else(|| event.headers.find("content-type"))
}

/// Without its parameters.
fn media_type(event: &Event) -> &str {
    let said = content_type(event).unwrap_or_default();
    said.split_once(';').map_or(said, |(name, _)| name).trim()
}

pub(super) fn is_form(event: &Event) -> bool {
    media_type(event).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// `application/json`, or anything that says it is written in it.
pub(super) fn is_json(event: &Event) -> bool {
    let media_type = media_type(event).to_ascii_lowercase();
    media_type == "application/json" || media_type.ends_with("+json")
}

/// Names and values in order; what cannot be decoded stands there as it was sent.
pub(super) fn pairs(form: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name).unwrap_or(name.into()), decoded(value).unwrap_or(value.into()))
    })
}
