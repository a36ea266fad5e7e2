//! `/docs`: the description of the API as a page that people read.
//!
//! Made from the same document that programs read; no script, nothing from elsewhere.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use serde_json::Value;

use crate::router;

pub async fn show() -> impl IntoResponse {
    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let document = serde_json::from_str(router::description()).unwrap_or_default();
        page(&document)
    });
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(PAGE.as_str()))
}

fn page(document: &Value) -> String {
    let mut page = String::new();
    let _ = write!(page, "{}", document["info"]["title"]);
    page
}
