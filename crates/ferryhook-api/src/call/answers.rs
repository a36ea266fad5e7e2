//! What a handler may answer, one type for each way of saying yes.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Describes, ETag};
use crate::openapi::Sketch;
use crate::page::Page;

/// 200, with the thing itself.
#[derive(Debug, Clone)]
pub struct Found<T>(pub T);

/// 200, with the tag that a later change may name.
#[derive(Debug, Clone)]
pub struct Tagged<T> {
    pub tag: ETag,
    pub body: T,
}

/// 201, with what was made.
#[derive(Debug, Clone)]
pub struct Created<T>(pub T);

/// 202: it is written down and will be done.
#[derive(Debug, Clone)]
pub struct Accepted<T>(pub T);

/// 204: done, and there is nothing to add.
#[derive(Debug, Clone, Copy)]
pub struct Done;

/// 200, with one page of a list.
#[derive(Debug, Clone)]
pub struct Listed<T>(pub Page<T>);

/// 302, to somewhere we have chosen.
#[derive(Debug, Clone)]
pub struct Redirect(pub String);

/// 200, with bytes that are not ours: kept from being run or shown by a browser.
#[derive(Debug, Clone)]
pub struct Raw {
    pub file_name: String,
    pub content_type: String,
    pub bytes: Bytes,
}

impl<T: Serialize> IntoResponse for Found<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.body).into_response();
        if let Some(tag) = self.tag.header() {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// The gate writes the header `Link`, because it knows the address of the page.
impl<T: Serialize> IntoResponse for Listed<T> {
    fn into_response(self) -> Response {
        let next = self.0.cursor.clone().map(NextCursor);
        let mut response = Json(self.0).into_response();
        if let Some(next) = next {
            response.extensions_mut().insert(next);
        }
        response
    }
}

/// Where the next page begins, for whoever writes the header.
#[derive(Debug, Clone)]
pub(crate) struct NextCursor(pub(crate) String);

impl IntoResponse for Redirect {
    fn into_response(self) -> Response {
        match HeaderValue::from_str(&self.0) {
            Ok(location) => (StatusCode::FOUND, [(header::LOCATION, location)]).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

impl IntoResponse for Raw {
    fn into_response(self) -> Response {
        let text = |text: &str, otherwise: &'static str| {
            HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(otherwise))
        };
        let headers: [(HeaderName, HeaderValue); 4] = [
            (header::CONTENT_TYPE, text(&self.content_type, "application/octet-stream")),
            (
                header::CONTENT_DISPOSITION,
                text(&format!("attachment; filename=\"{}\"", self.file_name), "attachment"),
            ),
            (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static("default-src 'none'; sandbox"),
            ),
        ];
        (headers, Body::from(self.bytes)).into_response()
    }
}

impl<T: ToSchema> Describes for Found<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<T>(StatusCode::OK, "As it is now.");
    }
}

impl<T: ToSchema> Describes for Tagged<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<T>(StatusCode::OK, "As it is now; the header ETag names this state.");
    }
}

impl<T: ToSchema> Describes for Created<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<T>(StatusCode::CREATED, "Made.");
    }
}

impl<T: ToSchema> Describes for Accepted<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<T>(StatusCode::ACCEPTED, "Written down; it will be done.");
    }
}

impl Describes for Done {
    fn describe(sketch: &mut Sketch) {
        sketch.says(StatusCode::NO_CONTENT, "Done.");
    }
}

impl<T: ToSchema> Describes for Listed<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.lists::<T>();
    }
}

impl Describes for Redirect {
    fn describe(sketch: &mut Sketch) {
        sketch.says(StatusCode::FOUND, "Go on at the address in the header Location.");
    }
}

impl Describes for Raw {
    fn describe(sketch: &mut Sketch) {
        sketch.gives_bytes("The bytes, as they came.");
    }
}
