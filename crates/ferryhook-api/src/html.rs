//! The few pages that this server shows by itself: plain, without a script, and with nothing in
//! them that somebody else wrote and a browser would run.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

/// Nothing is loaded from anywhere, forms go back to where they came from, nobody frames it.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// `body` is HTML: what comes from elsewhere goes through [`escape`] first.
pub(crate) fn page(title: &str, body: &str) -> Response {
    let title = escape(title);
    let mut response = Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title} - Ferryhook</title>\
         <h1>{title}</h1>{body}</html>\n"
    ))
    .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

pub(crate) fn page_with(status: StatusCode, title: &str, body: &str) -> Response {
    let mut response = page(title, body);
    *response.status_mut() = status;
    response
}

/// As text between tags or inside a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
