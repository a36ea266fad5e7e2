//! A sketch of one operation, to which each part of its handler's signature adds a line.

use std::fmt;

use axum::http::StatusCode;
use ferryhook_net::problem;
use utoipa::ToSchema;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{
    Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Required, Schema};

use super::Named;
use crate::problem::Code;
use crate::route::{Access, Route, Traffic};

const PROBLEM: &str = "Problem";

pub struct Sketch {
    /// Names in the path that have not been described yet.
    names: Vec<String>,
    parameters: Vec<Parameter>,
    body: Option<RequestBody>,
    answers: Vec<(StatusCode, Response)>,
    failures: Vec<Code>,
    schemas: Vec<Named>,
}

impl Sketch {
    pub(crate) fn new(route: &Route) -> Self {
        let names = route
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')));
        let names: Vec<_> = names.rev().map(str::to_owned).collect();
        let mut failures = vec![Code::Validation, Code::RateLimited, Code::Internal];
        failures.push(Code::Unavailable);
        if route.is_mutating() {
            failures.push(Code::Conflict);
        }
        if route.access != Access::Public {
            failures.extend([Code::Unauthorized, Code::Forbidden]);
        }
        if !names.is_empty() {
            failures.push(Code::NotFound);
        }
        let mut sketch = Self {
            names,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            failures,
            schemas: Vec::new(),
        };
        if let Access::Role(_) = route.access {
            let about = "The account to act in; the default account of the caller without it.";
            sketch.header("X-Ferryhook-Account", about);
        }
        if route.method == axum::http::Method::POST && route.traffic != Traffic::Out {
            let about = "Makes the call safe to repeat: the same key within 24 hours gets the \
                         answer of the first call.";
            sketch.header("Idempotency-Key", about);
            sketch.failures.push(Code::IdempotencyKeyReused);
        }
        sketch
    }

    pub fn parameter(&mut self, parameter: Parameter) {
        self.parameters.push(parameter);
    }

    pub fn header(&mut self, name: &str, about: &str) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        self.parameters.push(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(about))
                .schema(Some(text))
                .build(),
        );
    }

    /// The next name of the path.
    pub fn in_path(&mut self, schema: Schema) {
        let Some(name) = self.names.pop() else { return };
        self.parameters.push(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .schema(Some(schema))
                .build(),
        );
    }

    pub fn takes<T: ToSchema>(&mut self, required: bool) {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let required = if required { Required::True } else { Required::False };
        let body = RequestBodyBuilder::new().content("application/json", content);
        self.body = Some(body.required(Some(required)).build());
        self.failures.extend([Code::PayloadTooLarge, Code::UnsupportedMediaType]);
        self.failures.push(Code::RequestTimeout);
    }

    pub fn gives<T: ToSchema>(&mut self, status: StatusCode, about: &str) {
        let schema = self.refer::<T>();
        self.answer(status, about, "application/json", schema);
    }

    pub fn lists<T: ToSchema>(&mut self) {
        let item = self.refer::<T>();
        let name = format!("{}Page", T::name());
        let cursor = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Where the next page begins."));
        let page = ObjectBuilder::new()
            .property("data", ArrayBuilder::new().items(item))
            .required("data")
            .property("hasMore", ObjectBuilder::new().schema_type(Type::Boolean))
            .required("hasMore")
            .property("cursor", cursor);
        self.schemas.push((name.clone(), Schema::Object(page.build()).into()));
        let page = RefOr::Ref(Ref::from_schema_name(name));
        self.answer(StatusCode::OK, "One page of the list.", "application/json", page);
    }

    pub fn gives_bytes(&mut self, about: &str) {
        let bytes = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
        let bytes = RefOr::T(Schema::Object(bytes.build()));
        let content = ContentBuilder::new().schema(Some(bytes)).build();
        let response = ResponseBuilder::new()
            .description(about)
            .content("application/octet-stream", content.clone())
            .content("*/*", content);
        self.answers.push((StatusCode::OK, response.build()));
    }

    pub fn gives_messages<T: ToSchema>(&mut self, about: &str) {
        let schema = self.refer::<T>();
        self.answer(StatusCode::OK, about, "text/event-stream", schema);
    }

    pub fn gives_page(&mut self, about: &str) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let text = RefOr::T(Schema::Object(text.build()));
        self.answer(StatusCode::OK, about, "text/html", text);
    }

    pub fn says(&mut self, status: StatusCode, about: &str) {
        self.answers.push((status, ResponseBuilder::new().description(about).build()));
    }

    pub fn may_fail(&mut self, code: Code) {
        self.failures.push(code);
    }

    fn answer(&mut self, status: StatusCode, about: &str, kind: &str, schema: RefOr<Schema>) {
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let response = ResponseBuilder::new().description(about).content(kind, content).build();
        self.answers.push((status, response));
    }

    fn refer<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let name = T::name();
        self.schemas.push((name.clone().into_owned(), T::schema()));
        T::schemas(&mut self.schemas);
        RefOr::Ref(Ref::from_schema_name(name))
    }

    pub(crate) fn schemas(&mut self) -> Vec<Named> {
        std::mem::take(&mut self.schemas)
    }

    pub(crate) fn finish(self, route: &Route, security: Vec<SecurityRequirement>) -> Operation {
        let tag = route.operation.split('.').next().unwrap_or_default();
        let mut operation = OperationBuilder::new()
            .operation_id(Some(route.operation))
            .summary(Some(route.summary))
            .tag(tag)
            .parameters(Some(self.parameters).filter(|parameters| !parameters.is_empty()))
            .request_body(self.body);
        if !security.is_empty() {
            operation = operation.securities(Some(security));
        }
        for (status, answer) in self.answers {
            operation = operation.response(status.as_str(), answer);
        }
        let mut statuses: Vec<_> = self.failures.iter().map(|code| code.status()).collect();
        statuses.sort();
        statuses.dedup();
        for status in statuses {
            operation = operation.response(status.as_str(), Ref::from_response_name(PROBLEM));
        }
        operation.build()
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sketch").field("failures", &self.failures).finish_non_exhaustive()
    }
}

/// The shape of a problem, which no handler names in its signature.
pub(super) fn common_schemas() -> [Named; 1] {
    let text = |about: &str| {
        ObjectBuilder::new().schema_type(Type::String).description(Some(about)).build()
    };
    let codes = Code::ALL.into_iter().map(Code::as_str);
    let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes));
    let error = ObjectBuilder::new()
        .property("pointer", text("Where in the body (RFC 6901), or which parameter."))
        .required("pointer")
        .property("message", text("What is wrong with it."))
        .required("message");
    let problem = ObjectBuilder::new()
        .property("type", text("The page that explains the code."))
        .required("type")
        .property("title", text("The code in words."))
        .required("title")
        .property("status", ObjectBuilder::new().schema_type(Type::Integer))
        .required("status")
        .property("detail", text("What happened, for people."))
        .required("detail")
        .property("code", code)
        .required("code")
        .property("requestId", text("What the log of the server calls this request."))
        .required("requestId")
        .property("errors", ArrayBuilder::new().items(RefOr::T(Schema::Object(error.build()))));
    [(PROBLEM.to_owned(), Schema::Object(problem.build()).into())]
}

pub(super) fn common_responses() -> [(&'static str, Response); 1] {
    let schema = RefOr::Ref(Ref::from_schema_name(PROBLEM));
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new()
        .description("What went wrong, as a problem document.")
        .content(problem::CONTENT_TYPE, content);
    [(PROBLEM, response.build())]
}
