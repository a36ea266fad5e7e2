//! Why a request was not taken in, and what its sender is told.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::rejection::Cause;
use ferryhook_net::problem::Code;

use super::limits;
use super::rate::Standing;
use crate::routes::OverQuota;

#[derive(Debug)]
pub(super) enum Refusal {
    UnknownSource,
    Suspended,
    Loop,
    /// With what had come of the body until then.
    TooLarge {
        bytes_max: usize,
        beginning: Bytes,
    },
    /// Within the source's limit, and yet more than one item of the store holds.
    DoesNotFit,
    TooSlow,
    BrokenOff,
    OverRate(Standing),
    OverQuota {
        policy: OverQuota,
        wait: Duration,
    },
    Unparsable {
        detail: String,
        body: Bytes,
    },
    /// Nothing proves who sent it.
    Unproven {
        reason: String,
        body: Bytes,
    },
    /// Its owner has declared its type otherwise.
    NotAsDeclared {
        detail: String,
        body: Bytes,
    },
    /// What would prove it is somewhere that does not answer now.
    ProofAway,
    Crowded,
    StoreAway,
    Panicked,
}

impl Refusal {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::UnknownSource => Code::NotFound,
            Self::Suspended => Code::Forbidden,
            Self::Loop => Code::LoopDetected,
            Self::TooLarge { .. } | Self::DoesNotFit => Code::PayloadTooLarge,
            Self::TooSlow => Code::RequestTimeout,
            Self::BrokenOff | Self::Unparsable { .. } | Self::NotAsDeclared { .. } => {
                Code::Validation
            }
            Self::Unproven { .. } => Code::Unauthorized,
            Self::OverRate(_) => Code::RateLimited,
            Self::OverQuota { policy: OverQuota::Wait, .. } => Code::QuotaExceeded,
            Self::OverQuota { policy: OverQuota::Pay, .. } => Code::PaymentRequired,
            Self::Crowded | Self::StoreAway | Self::ProofAway => Code::Unavailable,
            Self::Panicked => Code::Internal,
        }
    }

    pub(super) fn detail(&self) -> Cow<'_, str> {
        match self {
            Self::UnknownSource => "There is no source at this address.".into(),
            Self::Suspended => "The account of this source is suspended.".into(),
            Self::Loop => "This event has been through here too often.".into(),
            Self::TooLarge { bytes_max, .. } => {
                format!("This source takes bodies of at most {bytes_max} bytes.").into()
            }
            Self::DoesNotFit => {
                let max = limits::EVENT_BYTES_MAX;
                format!("Body and headers of one event together have at most {max} bytes.").into()
            }
            Self::TooSlow => "The body did not arrive in time.".into(),
            Self::BrokenOff => "The body ended early or is malformed.".into(),
            Self::OverRate(standing) => {
                format!("This source takes {} events a minute.", standing.limit).into()
            }
            Self::OverQuota { .. } => "The account has used up this month's events.".into(),
            Self::Unparsable { detail, .. } | Self::NotAsDeclared { detail, .. } => {
                detail.as_str().into()
            }
            // How close a forgery came is nobody's business but the owner's.
            Self::Unproven { .. } => "The signature of this request does not hold.".into(),
            Self::ProofAway => "The sender's certificate cannot be fetched now.".into(),
            Self::Crowded => "Too many requests wait for the store.".into(),
            Self::StoreAway => "The store cannot take this event now.".into(),
            Self::Panicked => "Something failed on our side.".into(),
        }
    }

    pub(super) fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::OverRate(standing) => Some(standing.wait_seconds),
            Self::OverQuota { policy: OverQuota::Wait, wait } => Some(wait.as_secs().max(1)),
            Self::Crowded => Some(limits::CROWDED_SECONDS),
            Self::StoreAway | Self::ProofAway => Some(limits::STORE_AWAY_SECONDS),
            _ => None,
        }
    }

    /// Whether some of the body may still lie unread, so that nothing can follow it.
    pub(super) fn closes(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::TooSlow | Self::BrokenOff | Self::Panicked)
    }

    /// The same for the owner of the source, who may know more.
    pub(super) fn reason(&self) -> Cow<'_, str> {
        match self {
            Self::Unproven { reason, .. } => reason.as_str().into(),
            _ => self.detail(),
        }
    }

    /// What the owner of the source gets to see of it, if anything.
    pub(super) fn cause(&self) -> Option<Cause> {
        match self {
            Self::TooLarge { .. } | Self::DoesNotFit => Some(Cause::TooLarge),
            Self::OverRate(_) => Some(Cause::Rate),
            Self::OverQuota { .. } => Some(Cause::Quota),
            Self::Unparsable { .. } => Some(Cause::Unparsable),
            Self::Unproven { .. } => Some(Cause::Signature),
            Self::NotAsDeclared { .. } => Some(Cause::Schema),
            _ => None,
        }
    }
}
