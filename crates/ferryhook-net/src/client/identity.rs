//! Identity: the client certificate that a call shows to whoever asks for one in TLS.
//!
//! Two calls with different ones never share a connection, nor a TLS session: what the other side
//! has granted to one of them is not for the other.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys};

use super::limits;

/// Cheap to clone. Equal to another that shows the same certificates.
#[derive(Clone)]
pub struct Identity(Arc<CertifiedKey>);

/// Why a certificate and a key cannot be shown. Quotes neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadIdentity {
    #[error("holds no certificate in PEM")]
    NoCertificate,
    #[error("holds more than {max} certificates", max = limits::CHAIN_MAX)]
    LongChain,
    #[error("holds a certificate that cannot be read")]
    Certificate,
    #[error("holds no private key in PEM (PKCS #8, PKCS #1 or SEC 1, without a passphrase)")]
    NoKey,
    #[error("is of a kind that cannot be used: RSA, ECDSA and Ed25519 can")]
    Key,
    #[error("does not belong to the certificate")]
    Mismatch,
}

impl BadIdentity {
    /// Whether the key is to blame, and not the certificate.
    pub fn is_about_key(self) -> bool {
        matches!(self, Self::NoKey | Self::Key | Self::Mismatch)
    }
}

impl Identity {
    /// The own certificate stands first, those that vouch for it behind it.
    pub fn from_pem(certificates: &str, key: &str) -> Result<Self, BadIdentity> {
        let mut chain = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(certificates.as_bytes()) {
            if chain.len() == limits::CHAIN_MAX {
                return Err(BadIdentity::LongChain);
            }
            chain.push(certificate.map_err(|_| BadIdentity::Certificate)?);
        }
        if chain.is_empty() {
            return Err(BadIdentity::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| BadIdentity::NoKey)?;
        let provider = aws_lc_rs::default_provider();
        let key = provider.key_provider.load_private_key(key).map_err(|_| BadIdentity::Key)?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) => Ok(Self(Arc::new(certified))),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                Err(BadIdentity::Mismatch)
            }
            Err(Error::InconsistentKeys(_)) => Err(BadIdentity::Key),
            Err(_) => Err(BadIdentity::Certificate),
        }
    }

    pub(super) fn resolver(&self) -> Arc<SingleCertAndKey> {
        Arc::new(SingleCertAndKey::from(self.0.clone()))
    }
}

// A certificate has one key, so it stands for both.
impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.cert == other.0.cert
    }
}

impl Eq for Identity {}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.cert.hash(state);
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}
