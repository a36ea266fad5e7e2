//! Errors as every HTTP answer of ours shows them: a problem document (RFC 9457).
//!
//! It is here, below both planes, so that the door that takes events and the interface that
//! people use cannot come to speak two languages.

use ferryhook_core::Id;
use ferryhook_core::id::Identified;
use hyper::StatusCode;
use hyper::header::HeaderName;
use serde::{Serialize, Serializer};

pub static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub const CONTENT_TYPE: &str = "application/problem+json";

/// One request, as its id names it.
#[derive(Debug)]
pub enum AnyRequest {}

impl Identified for AnyRequest {
    const PREFIX: &'static str = "req_";
    const SORTABLE: bool = true;
}

pub type RequestId = Id<AnyRequest>;

/// What went wrong, in a word that clients may rely on. Never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    Validation,
    Unauthorized,
    PaymentRequired,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    PayloadTooLarge,
    RateLimited,
    QuotaExceeded,
    Internal,
    Unavailable,
    LoopDetected,
}

impl Code {
    pub const ALL: [Code; 13] = [
        Code::Validation,
        Code::Unauthorized,
        Code::PaymentRequired,
        Code::Forbidden,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::RequestTimeout,
        Code::PayloadTooLarge,
        Code::RateLimited,
        Code::QuotaExceeded,
        Code::Internal,
        Code::Unavailable,
        Code::LoopDetected,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Code::Validation => "VALIDATION_ERROR",
            Code::Unauthorized => "UNAUTHORIZED",
            Code::PaymentRequired => "PAYMENT_REQUIRED",
            Code::Forbidden => "FORBIDDEN",
            Code::NotFound => "NOT_FOUND",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::RequestTimeout => "REQUEST_TIMEOUT",
            Code::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Code::RateLimited => "RATE_LIMITED",
            Code::QuotaExceeded => "QUOTA_EXCEEDED",
            Code::Internal => "INTERNAL_ERROR",
            Code::Unavailable => "UNAVAILABLE",
            Code::LoopDetected => "LOOP_DETECTED",
        }
    }

    pub fn status(self) -> StatusCode {
        match self {
            Code::Validation => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::PaymentRequired => StatusCode::PAYMENT_REQUIRED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::RateLimited | Code::QuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::LoopDetected => StatusCode::LOOP_DETECTED,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Code::Validation => "Not valid",
            Code::Unauthorized => "Not proven",
            Code::PaymentRequired => "The plan is used up",
            Code::Forbidden => "Not allowed",
            Code::NotFound => "Not found",
            Code::MethodNotAllowed => "Method not allowed",
            Code::RequestTimeout => "The request took too long",
            Code::PayloadTooLarge => "Too large",
            Code::RateLimited => "Too fast",
            Code::QuotaExceeded => "The month's quota is used up",
            Code::Internal => "Internal error",
            Code::Unavailable => "Not available now",
            Code::LoopDetected => "Going round in circles",
        }
    }

    /// What the page behind `type` says.
    pub fn explanation(self) -> &'static str {
        match self {
            Code::Validation => "The request, or a part of it that detail names, is malformed.",
            Code::Unauthorized => "Nothing in the request proves who sent it, or the proof fails.",
            Code::PaymentRequired => {
                "The plan's events for this month are used up. A larger plan takes more."
            }
            Code::Forbidden => "Who you are is known, and may not do this.",
            Code::NotFound => "The address is unknown, or what it names is not yours to see.",
            Code::MethodNotAllowed => "The address exists; the header Allow lists its methods.",
            Code::RequestTimeout => "The body did not arrive in time. Send it again.",
            Code::PayloadTooLarge => "The body is larger than what is taken here; nothing is cut.",
            Code::RateLimited => {
                "More requests than the plan allows. Retry-After says when to go on."
            }
            Code::QuotaExceeded => {
                "The plan's events for this month are used up. Retry-After says when the next begins."
            }
            Code::Internal => "A fault of the server. Its log has the request's id.",
            Code::Unavailable => "The server starts, stops or waits for its store. Ask again.",
            Code::LoopDetected => {
                "The event has passed through gateways too often: a destination leads back here."
            }
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing wrong with the request's body.
#[derive(Debug, Clone, Serialize)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body.
    pub pointer: String,
    pub detail: String,
}

/// The body of an error. `detail` is for people and may change; it holds no secrets and no causes.
pub fn document(code: Code, detail: &str, request: RequestId, errors: &[FieldError]) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document<'a> {
        r#type: String,
        title: &'a str,
        status: u16,
        detail: &'a str,
        code: Code,
        request_id: RequestId,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        errors: &'a [FieldError],
    }

    let document = Document {
        r#type: format!("/problems/{}", code.as_str()),
        title: code.title(),
        status: code.status().as_u16(),
        detail,
        code,
        request_id: request,
        errors,
    };
    // Text and numbers only: there is nothing that could fail.
    serde_json::to_vec(&document).unwrap_or_default()
}
