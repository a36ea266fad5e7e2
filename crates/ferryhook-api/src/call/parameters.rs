//! Parameters: those of the path, and those behind the question mark.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use ferryhook_core::Id;
use ferryhook_core::id::Identified;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::Describes;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;

/// What the path names. Something that cannot be a name is as unknown as a name nobody has.
#[derive(Debug, Clone)]
pub struct In<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for In<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(path)) => Ok(Self(path)),
            Err(_) => Err(Problem::not_found()),
        }
    }
}

impl<T: PathPart> Describes for In<T> {
    fn describe(sketch: &mut Sketch) {
        T::schemas(&mut |schema| sketch.in_path(schema));
    }
}

/// What a part of a path looks like, in the order of the path.
pub trait PathPart {
    fn schemas(add: &mut dyn FnMut(Schema));
}

impl<T: Identified> PathPart for Id<T> {
    fn schemas(add: &mut dyn FnMut(Schema)) {
        let pattern = format!("^{}[A-Za-z0-9_-]{{16}}$", T::PREFIX);
        add(ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into());
    }
}

impl PathPart for String {
    fn schemas(add: &mut dyn FnMut(Schema)) {
        add(ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).into());
    }
}

impl<A: PathPart, B: PathPart> PathPart for (A, B) {
    fn schemas(add: &mut dyn FnMut(Schema)) {
        A::schemas(add);
        B::schemas(add);
    }
}

/// The query, with nothing in it that nobody knows.
#[derive(Debug, Clone)]
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Query::try_from_uri(&parts.uri).map(|Query(query)| Self(query)).map_err(|error| {
            let text = std::error::Error::source(&error).map(ToString::to_string);
            let text = text.unwrap_or_else(|| error.to_string());
            Problem::new(Code::Validation, format!("The query is not understood: {text}."))
        })
    }
}

impl<T: IntoParams> Describes for Asked<T> {
    fn describe(sketch: &mut Sketch) {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            sketch.parameter(parameter);
        }
    }
}
