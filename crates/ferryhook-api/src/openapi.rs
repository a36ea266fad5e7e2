//! The description of the API (OpenAPI 3.1), made from the routes and the types of their handlers.
//!
//! Nothing here is written down twice: paths, methods, operations and rights come from the table
//! of routes, parameters, bodies and answers from the signatures.

mod sketch;

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Value, json};
use utoipa::openapi::path::{HttpMethod, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, OpenApiVersion, PathsBuilder,
    RefOr, Schema,
};

use crate::route::{Access, Route};
use crate::router::{self, App};

pub use sketch::Sketch;

const ABOUT: &str = "Sources take events in, connections bring them to destinations. \
    Single things are answered bare, lists as pages, errors as problem documents (RFC 9457).";

/// The whole document.
pub fn document(routes: &[Route]) -> OpenApi {
    let mut paths = PathsBuilder::new();
    let mut schemas = BTreeMap::from(sketch::common_schemas());
    for route in routes {
        let mut sketch = Sketch::new(route);
        (route.describe)(&mut sketch);
        for (name, schema) in sketch.schemas() {
            schemas.insert(name, schema);
        }
        let operation = sketch.finish(route, security(route.access));
        paths = paths.path(route.path, PathItem::new(method(route), operation));
    }
    let mut components = ComponentsBuilder::new().schemas_from_iter(schemas);
    for (name, response) in sketch::common_responses() {
        components = components.response(name, response);
    }
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An access token from signing in, or an API key (fh_live_…)."))
        .build();
    let key = ApiKey::Header(ApiKeyValue::with_description("X-API-Key", "An API key."));
    let components = components
        .security_scheme("bearer", SecurityScheme::Http(bearer))
        .security_scheme("apiKey", SecurityScheme::ApiKey(key))
        .build();
    let info = InfoBuilder::new()
        .title("Ferryhook")
        .description(Some(ABOUT))
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(License::new("MIT OR Apache-2.0")))
        .build();
    OpenApiBuilder::new()
        .openapi(OpenApiVersion::Version31)
        .info(info)
        .paths(paths)
        .components(Some(components))
        .build()
}

/// As it is published: with the fields in the order of the standard.
pub fn json(routes: &[Route]) -> Value {
    serde_json::to_value(document(routes))
        .unwrap_or_else(|error| json!({"error": error.to_string()}))
}

/// `/openapi.json`
pub async fn show(State(_): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], router::description().to_owned())
}

fn method(route: &Route) -> HttpMethod {
    match route.method.as_str() {
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn security(access: Access) -> Vec<SecurityRequirement> {
    let scheme = |name: &str| SecurityRequirement::new(name, [""; 0]);
    match access {
        Access::Public => Vec::new(),
        Access::Person => vec![scheme("bearer")],
        Access::Role(_) => vec![scheme("bearer"), scheme("apiKey")],
    }
}

/// The name and the shape of every type that a document refers to.
pub(crate) type Named = (String, RefOr<Schema>);

#[cfg(test)]
mod tests;
