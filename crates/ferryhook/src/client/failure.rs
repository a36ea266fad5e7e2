//! What can go wrong between a command and a server, in words that say what to do about it.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use hyper::StatusCode;
use hyper_util::client::legacy;
use serde::Deserialize;

use super::Reply;

/// Exit codes that scripts may rely on.
const FAILED: u8 = 1;
const NOT_PROVEN: u8 = 3;
const NOT_FOUND: u8 = 4;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(
        "no server answers at {server} ({why}); start one with `ferryhook dev`, or name another \
         with --server or FERRYHOOK_URL"
    )]
    Unreachable { server: String, why: String },
    #[error("{server} did not answer in time; is it the right address?")]
    Late { server: String },
    #[error("{server} broke off in the middle of its answer; try again")]
    Cut { server: String },
    #[error("{server} has been asked too often; try again in a few minutes")]
    Busy { server: String },
    #[error("what answers at {server} does not speak like Ferryhook; is it the right address?")]
    Strange { server: String },
    #[error("{server:?} cannot be a server: {why}")]
    BadServer { server: String, why: String },
    #[error("the request cannot be sent: {0}")]
    Unsendable(String),
    #[error("{server} wants to know who you are; run `ferryhook login`, or set FERRYHOOK_API_KEY")]
    NotSignedIn { server: String },
    #[error(
        "{server} does not accept the key: {detail} Run `ferryhook login`, or set \
         FERRYHOOK_API_KEY to another"
    )]
    NotProven { server: String, detail: String },
    #[error("{server} does not know this address with this password or code")]
    BadLogin { server: String },
    #[error("{detail} `ferryhook whoami` shows who you are there")]
    Forbidden { detail: String },
    #[error("{what}")]
    NotFound { what: String },
    #[error("{}", refusal(detail, errors))]
    Refused { status: StatusCode, detail: String, errors: Vec<Mistake> },
    #[error("the server failed: {detail} Its log has the request {request}")]
    Broken { detail: String, request: String },
}

/// One thing that is wrong with what was sent.
#[derive(Debug, Clone, Deserialize)]
pub struct Mistake {
    #[serde(default)]
    pointer: String,
    #[serde(default)]
    message: String,
}

/// As much of a problem document as people are told.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    detail: String,
    request_id: String,
    errors: Vec<Mistake>,
}

impl Failure {
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }

    /// The same, where nothing was found: says what it was that is not there.
    pub fn about(self, what: &str, name: impl Display) -> Self {
        match self {
            Self::NotFound { .. } => Self::not_found(format!("there is no {what} {name}")),
            other => other,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::NotSignedIn { .. } | Self::NotProven { .. } => NOT_PROVEN,
            Self::BadLogin { .. } | Self::Forbidden { .. } => NOT_PROVEN,
            Self::NotFound { .. } => NOT_FOUND,
            _ => FAILED,
        })
    }

    /// The server may be there again in a moment.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Late { .. } | Self::Cut { .. } => true,
            Self::Busy { .. } | Self::Broken { .. } => true,
            Self::Refused { status, .. } => *status == StatusCode::SERVICE_UNAVAILABLE,
            _ => false,
        }
    }

    pub(super) fn unreachable(server: String, error: &legacy::Error) -> Self {
        let mut why: &dyn Error = error;
        while let Some(cause) = why.source() {
            why = cause;
        }
        // Without the number of the system's error, which says nothing to people.
        let why = match why.downcast_ref::<io::Error>() {
            Some(error) if error.raw_os_error().is_some() => error.kind().to_string(),
            _ => why.to_string(),
        };
        Self::Unreachable { server, why }
    }

    pub(super) fn refused(server: &str, had_proof: bool, reply: &Reply) -> Self {
        let Ok(document) = serde_json::from_slice::<Document>(&reply.body) else {
            return Self::Strange { server: server.to_owned() };
        };
        let Document { detail, request_id, errors } = document;
        match reply.status {
            StatusCode::UNAUTHORIZED if had_proof => {
                Self::NotProven { server: server.to_owned(), detail }
            }
            StatusCode::UNAUTHORIZED => Self::NotSignedIn { server: server.to_owned() },
            StatusCode::FORBIDDEN => Self::Forbidden { detail },
            StatusCode::NOT_FOUND => Self::NotFound { what: detail },
            StatusCode::INTERNAL_SERVER_ERROR => Self::Broken { detail, request: request_id },
            status => Self::Refused { status, detail, errors },
        }
    }
}

/// What is wrong, a line for each. A manifest's mistakes have their place in them already.
fn refusal(detail: &str, errors: &[Mistake]) -> String {
    const GENERAL: &str = "The request is not valid; errors says where.";
    let line = |one: &Mistake| match one.pointer.trim_start_matches('/') {
        "" | "manifest" => format!("\n  {}", one.message),
        place => format!("\n  {}: {}", place.replace('/', "."), one.message),
    };
    let lines: String = errors.iter().map(line).collect();
    match detail {
        GENERAL if !errors.is_empty() => format!("the server does not take this:{lines}"),
        detail => format!("{detail}{lines}"),
    }
}
