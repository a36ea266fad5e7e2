//! How requests of a source prove who sent them: its signatures, and the handshakes by which its
//! provider looks whether anyone is there. Compiled once for a route.

use std::sync::Arc;

use ferryhook_core::Source;
use ferryhook_core::handshake::Handshakes;
use ferryhook_core::source::VerificationMode;
use ferryhook_core::verify::Verifier;

#[derive(Debug, Clone)]
pub struct Proof {
    /// `None` where nothing has to be proven. What nobody understands proves nothing, and is said
    /// to whoever asks.
    pub verifier: Result<Option<Arc<Verifier>>, String>,
    pub handshakes: Arc<Handshakes>,
    pub mode: VerificationMode,
}

impl Proof {
    pub(crate) fn new(source: &Source) -> Self {
        let verifier = Verifier::of(source).map(|verifier| verifier.map(Arc::new));
        let verifier = verifier.map_err(|error| {
            tracing::warn!(%error, source.id = %source.id, "no signature can be checked; requests are refused");
            error.to_string()
        });
        let handshakes = Handshakes::of(source).unwrap_or_else(|error| {
            tracing::warn!(%error, source.id = %source.id, "handshakes are not answered");
            Handshakes::none()
        });
        Self {
            verifier,
            handshakes: Arc::new(handshakes),
            mode: source.verification_mode.unwrap_or(VerificationMode::Reject),
        }
    }

    /// Whether a request has to prove anything.
    pub fn is_needed(&self) -> bool {
        !matches!(self.verifier, Ok(None))
    }

    /// Whether the one is proven as the other.
    pub(super) fn is_same(one: &Source, other: &Source) -> bool {
        one.provider == other.provider
            && one.config == other.config
            && one.signing_secret == other.signing_secret
            && one.previous_secrets == other.previous_secrets
            && one.signing_algorithm == other.signing_algorithm
            && one.verification_mode == other.verification_mode
    }
}
