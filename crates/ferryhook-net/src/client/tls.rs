//! TLS to destinations: 1.2 and up, certificates always checked, and an error that says what is
//! wrong with the certificate.

use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore};

use super::Identity;
use super::course::{Failure, Why};

/// Whose certificates are believed.
#[derive(Debug, Clone)]
pub struct Roots(RootCertStore);

/// A file of certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("it holds no certificate")]
    Empty,
    #[error("it is not PEM")]
    NotPem(#[source] rustls::pki_types::pem::Error),
    #[error("one of its certificates cannot be used")]
    Unusable(#[source] rustls::Error),
}

impl Roots {
    /// The public authorities, as browsers know them.
    pub fn public() -> Self {
        Self(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())
    }

    /// And those of the operator, in PEM.
    pub fn with_pem(mut self, pem: &[u8]) -> Result<Self, BadRoots> {
        let known = self.0.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            self.0.add(certificate.map_err(BadRoots::NotPem)?).map_err(BadRoots::Unusable)?;
        }
        if self.0.len() == known { Err(BadRoots::Empty) } else { Ok(self) }
    }
}

impl Default for Roots {
    fn default() -> Self {
        Self::public()
    }
}

pub(super) fn config(roots: Roots) -> Arc<ClientConfig> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider knows TLS 1.2 and 1.3")
        .with_root_certificates(roots.0)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// The same for calls that show a certificate of their own. Without sessions to resume: those are
/// found by the name of the server, whoever they were agreed on with.
pub(super) fn showing(config: &ClientConfig, identity: &Identity) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.client_auth_cert_resolver = identity.resolver();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// What went wrong while TLS was being agreed on.
pub(super) fn handshake_failure(error: &io::Error) -> Failure {
    if let Some(error) = inner(error) {
        return failure(error);
    }
    let message = match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the destination reset the connection during the TLS handshake"
        }
        _ => "the destination closed the connection during the TLS handshake",
    };
    Failure::new(Why::Tls, message)
}

/// The TLS error within an I/O error, if that is what it is.
pub(super) fn inner(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

pub(super) fn failure(error: &rustls::Error) -> Failure {
    use rustls::Error;
    let message = match error {
        Error::InvalidCertificate(error) => return certificate_failure(error),
        Error::NoCertificatesPresented => "the destination shows no certificate",
        Error::AlertReceived(alert) => {
            return Failure::new(Why::Tls, format!("the destination refused TLS: {alert:?}"));
        }
        Error::PeerIncompatible(_) => "the destination offers no TLS version or cipher we accept",
        Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. } => "the destination does not speak TLS",
        _ => "the destination breaks the rules of TLS",
    };
    Failure::new(Why::Tls, message)
}

fn certificate_failure(error: &CertificateError) -> Failure {
    use CertificateError as Bad;
    let message = match error {
        Bad::Expired | Bad::ExpiredContext { .. } => "the certificate has expired",
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => "the certificate is not valid yet",
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            "the certificate is for another host"
        }
        Bad::UnknownIssuer => "the certificate comes from an unknown issuer or is self-signed",
        Bad::Revoked => "the certificate has been revoked",
        Bad::BadSignature => "the certificate's signature is wrong",
        Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => {
            "the certificate is not meant for servers"
        }
        _ => "the certificate cannot be accepted",
    };
    Failure::new(Why::Tls, message)
}
