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
    Conflict,
    PreconditionFailed,
    UnsupportedMediaType,
    IdempotencyKeyReused,
    PlanLimitReached,
    AccountSuspended,
    BillingOff,
}

impl Code {
    pub const ALL: [Code; 20] = [
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
        Code::Conflict,
        Code::PreconditionFailed,
        Code::UnsupportedMediaType,
        Code::IdempotencyKeyReused,
        Code::PlanLimitReached,
        Code::AccountSuspended,
        Code::BillingOff,
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
            Code::Conflict => "CONFLICT",
            Code::PreconditionFailed => "PRECONDITION_FAILED",
            Code::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Code::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Code::PlanLimitReached => "PLAN_LIMIT_REACHED",
            Code::AccountSuspended => "ACCOUNT_SUSPENDED",
            Code::BillingOff => "BILLING_OFF",
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
            Code::Conflict => StatusCode::CONFLICT,
            Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Code::PlanLimitReached => StatusCode::FORBIDDEN,
            Code::AccountSuspended => StatusCode::FORBIDDEN,
            Code::BillingOff => StatusCode::CONFLICT,
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
            Code::Conflict => "Not as you saw it",
            Code::PreconditionFailed => "Changed in between",
            Code::UnsupportedMediaType => "Not a type that is read here",
            Code::IdempotencyKeyReused => "The key belongs to another request",
            Code::PlanLimitReached => "The plan allows no more",
            Code::AccountSuspended => "The account is suspended",
            Code::BillingOff => "Nothing is sold here",
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
            Code::Conflict => {
                "What you asked for does not go together with what is there: a name is taken, or it has changed."
            }
            Code::PreconditionFailed => {
                "The header If-Match names a state that is no longer the present one."
            }
            Code::UnsupportedMediaType => {
                "The body must be JSON, and its Content-Type must say so."
            }
            Code::IdempotencyKeyReused => {
                "The Idempotency-Key was used before, with another body or address."
            }
            Code::PlanLimitReached => {
                "The plan has a bound on how many of these an account may have."
            }
            Code::AccountSuspended => {
                "Nothing of it is lost; whoever suspended it can let it go on."
            }
            Code::BillingOff => {
                "The operator of this installation has not connected it to Stripe, so that nothing can be bought."
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
    pub message: String,
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
