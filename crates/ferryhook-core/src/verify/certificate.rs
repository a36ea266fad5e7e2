//! Public keys inside of X.509 certificates.

use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// The `SubjectPublicKeyInfo` of a certificate, or `None` if the bytes are none.
pub(super) fn public_key_of(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = CertificateDer::from(der);
    let certificate = EndEntityCert::try_from(&certificate).ok()?;
    Some(certificate.subject_public_key_info().as_ref().to_vec())
}
