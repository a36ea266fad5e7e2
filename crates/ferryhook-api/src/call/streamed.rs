//! An answer that goes on: messages as they happen, as server-sent events.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde::Serialize;
use utoipa::ToSchema;

use super::Describes;
use crate::openapi::Sketch;

/// A line that says nothing comes this often: proxies and clients know by it that we are there, and
/// we learn that they are not.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(15);
/// Asks proxies that gather an answer before they pass it on not to.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// 200, and then one message after the other until either side has had enough.
pub struct Streamed<T>(pub BoxStream<'static, Message<T>>);

#[derive(Debug, Clone)]
pub struct Message<T> {
    /// The field `event`.
    pub name: &'static str,
    /// From where a client that comes back may go on.
    pub id: Option<String>,
    /// Without it only the place moves on.
    pub data: Option<T>,
}

impl<T: Serialize + Send + 'static> IntoResponse for Streamed<T> {
    fn into_response(self) -> Response {
        // Nothing that is described to clients fails to be written.
        let events = self.0.filter_map(async |message| event(&message).map(Ok::<_, Infallible>));
        let alive = KeepAlive::new().interval(SIGN_OF_LIFE_EVERY);
        let mut response = Sse::new(events).keep_alive(alive).into_response();
        response.headers_mut().insert(UNBUFFERED, HeaderValue::from_static("no"));
        response
    }
}

fn event<T: Serialize>(message: &Message<T>) -> Option<Event> {
    let event = match &message.id {
        Some(id) => Event::default().id(id),
        None => Event::default(),
    };
    match &message.data {
        Some(data) => event.event(message.name).json_data(data).ok(),
        None => Some(event),
    }
}

impl<T: ToSchema> Describes for Streamed<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives_messages::<T>(
            "Messages as they happen (server-sent events); the schema is that of their data.",
        );
    }
}

impl<T> fmt::Debug for Streamed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").finish_non_exhaustive()
    }
}
