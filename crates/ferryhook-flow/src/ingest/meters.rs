//! What the door says about itself to Prometheus. The handles are made once.

use std::time::Duration;

use metrics::{Counter, Histogram};

use super::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Accepted,
    Held,
    Duplicate,
    Handshake,
    /// Taken in, and marked: its signature does not hold.
    Marked,
    Unproven,
    UnknownSource,
    Suspended,
    Loop,
    TooLarge,
    TooSlow,
    Malformed,
    NotAsDeclared,
    OverRate,
    OverQuota,
    Crowded,
    StoreAway,
    Failed,
}

impl Outcome {
    const ALL: [(Outcome, &'static str); 18] = [
        (Outcome::Accepted, "accepted"),
        (Outcome::Held, "held"),
        (Outcome::Duplicate, "duplicate"),
        (Outcome::Handshake, "handshake"),
        (Outcome::Marked, "signature_failed"),
        (Outcome::Unproven, "unproven"),
        (Outcome::UnknownSource, "unknown_source"),
        (Outcome::Suspended, "suspended"),
        (Outcome::Loop, "loop"),
        (Outcome::TooLarge, "too_large"),
        (Outcome::TooSlow, "too_slow"),
        (Outcome::Malformed, "malformed"),
        (Outcome::NotAsDeclared, "not_as_declared"),
        (Outcome::OverRate, "over_rate"),
        (Outcome::OverQuota, "over_quota"),
        (Outcome::Crowded, "crowded"),
        (Outcome::StoreAway, "store_away"),
        (Outcome::Failed, "failed"),
    ];
}

impl From<&Refusal> for Outcome {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::UnknownSource => Self::UnknownSource,
            Refusal::Suspended => Self::Suspended,
            Refusal::Loop => Self::Loop,
            Refusal::TooLarge { .. } | Refusal::DoesNotFit => Self::TooLarge,
            Refusal::TooSlow => Self::TooSlow,
            Refusal::BrokenOff | Refusal::Unparsable { .. } => Self::Malformed,
            Refusal::NotAsDeclared { .. } => Self::NotAsDeclared,
            Refusal::Unproven { .. } => Self::Unproven,
            Refusal::OverRate(_) => Self::OverRate,
            Refusal::OverQuota { .. } => Self::OverQuota,
            Refusal::Crowded => Self::Crowded,
            Refusal::StoreAway | Refusal::ProofAway => Self::StoreAway,
            Refusal::Panicked => Self::Failed,
        }
    }
}

pub(super) struct Meters {
    requests: [Counter; Outcome::ALL.len()],
    bytes: Counter,
    duration: Histogram,
}

impl Meters {
    /// Belongs to the recorder that is installed now.
    pub(super) fn new() -> Self {
        metrics::describe_counter!(
            "ferryhook_ingest_requests_total",
            "Requests to sources, by what became of them."
        );
        metrics::describe_counter!(
            "ferryhook_ingest_request_bytes_total",
            "Bytes of the bodies that were taken in."
        );
        metrics::describe_histogram!(
            "ferryhook_ingest_duration_seconds",
            "From the end of a request's head to its answer."
        );
        let requests = Outcome::ALL.map(
            |(_, name)| metrics::counter!("ferryhook_ingest_requests_total", "outcome" => name),
        );
        Self {
            requests,
            bytes: metrics::counter!("ferryhook_ingest_request_bytes_total"),
            duration: metrics::histogram!("ferryhook_ingest_duration_seconds"),
        }
    }

    pub(super) fn note(&self, outcome: Outcome, took: Duration) {
        self.requests[outcome as usize].increment(1);
        self.duration.record(took.as_secs_f64());
    }

    pub(super) fn note_bytes(&self, bytes: usize) {
        self.bytes.increment(bytes as u64);
    }
}

impl std::fmt::Debug for Meters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meters")
    }
}
