//! `/docs`: the description of the API as a page that people read.
//!
//! Made from the same document that programs read, once, when somebody first asks. There is no
//! script in it and nothing from elsewhere, so it works without a network.

mod schema;

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use serde_json::{Map, Value};

use crate::router;

const STYLE: &str = include_str!("docs/style.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; frame-ancestors 'none'";

/// `/docs`
pub async fn show() -> impl IntoResponse {
    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let document = serde_json::from_str(router::description()).unwrap_or_default();
        page(&document)
    });
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(PAGE.as_str()))
}

/// `/docs/style.css`
pub async fn style() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "text/css"), (header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, STYLE)
}

/// One operation, as the document has it.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    about: &'a Value,
}

impl Operation<'_> {
    fn id(&self) -> &str {
        self.about["operationId"].as_str().unwrap_or_default()
    }

    fn noun(&self) -> &str {
        self.about["tags"][0].as_str().unwrap_or_default()
    }
}

fn page(document: &Value) -> String {
    let operations = operations(document);
    let mut nouns: Vec<&str> = Vec::new();
    for operation in &operations {
        if !nouns.contains(&operation.noun()) {
            nouns.push(operation.noun());
        }
    }
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Ferryhook API</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body><nav>",
    );
    for noun in &nouns {
        let _ = write!(page, "<h2><a href=\"#{0}\">{0}</a></h2><ul>", escape(noun));
        for operation in operations.iter().filter(|operation| operation.noun() == *noun) {
            let id = escape(operation.id());
            let _ = write!(page, "<li><a href=\"#{id}\">{id}</a></li>");
        }
        page.push_str("</ul>");
    }
    let about = text(&document["info"]["description"]);
    let _ = write!(
        page,
        "</nav><main><h1>Ferryhook API</h1><p>{about}</p>\
         <p>The same for programs: <a href=\"/openapi.json\">/openapi.json</a> (OpenAPI 3.1).</p>",
    );
    for noun in &nouns {
        let _ = write!(page, "<section id=\"{0}\"><h2>{0}</h2>", escape(noun));
        for operation in operations.iter().filter(|operation| operation.noun() == *noun) {
            show_operation(&mut page, document, operation);
        }
        page.push_str("</section>");
    }
    page.push_str("</main></body></html>");
    page
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let none = Map::new();
    let paths = document["paths"].as_object();
    paths
        .into_iter()
        .flatten()
        .flat_map(|(path, methods)| {
            methods.as_object().into_iter().flatten().map(move |(method, about)| Operation {
                method,
                path,
                about,
            })
        })
        .filter(|operation| operation.about.as_object().unwrap_or(&none).contains_key("responses"))
        .collect()
}

fn show_operation(page: &mut String, document: &Value, operation: &Operation<'_>) {
    let _ = write!(
        page,
        "<article id=\"{id}\"><h3><b class=\"{method}\">{upper}</b> <code>{path}</code></h3>\
         <p>{summary}</p>",
        id = escape(operation.id()),
        method = escape(operation.method),
        upper = operation.method.to_uppercase(),
        path = escape(operation.path),
        summary = text(&operation.about["summary"]),
    );
    let parameters = operation.about["parameters"].as_array();
    if let Some(parameters) = parameters.filter(|list| !list.is_empty()) {
        page.push_str("<table><caption>Parameters</caption>");
        for parameter in parameters {
            let required = if parameter["required"] == true { ", required" } else { "" };
            let _ = write!(
                page,
                "<tr><td><code>{}</code></td><td>{}{required}</td><td>{} {}</td></tr>",
                text(&parameter["name"]),
                text(&parameter["in"]),
                schema::kind(&parameter["schema"]),
                text(&parameter["description"]),
            );
        }
        page.push_str("</table>");
    }
    let body = &operation.about["requestBody"]["content"]["application/json"]["schema"];
    if !body.is_null() {
        page.push_str("<h4>Body</h4>");
        schema::show(page, document, body);
    }
    for (status, answer) in operation.about["responses"].as_object().into_iter().flatten() {
        if answer.get("$ref").is_some() {
            continue;
        }
        let about = text(&answer["description"]);
        let _ = write!(page, "<h4>{}: {about}</h4>", escape(status));
        for content in
            answer["content"].as_object().into_iter().flat_map(|content| content.values())
        {
            schema::show(page, document, &content["schema"]);
        }
    }
    page.push_str("</article>");
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
