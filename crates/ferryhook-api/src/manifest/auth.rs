//! How a connection shows its destination who sends, as it is written down.
//!
//! The form is that of [`DestinationAuth`]; every text in it may be a reference to a secret. What
//! can be checked without calling anybody is checked here: the token's address, whether key and
//! certificate belong together, and that all of it fits the rest of the connection.

use ferryhook_core::destination_auth::{BadAuth, Credentials, DestinationAuth, PEM_BYTES_MAX};
use ferryhook_core::{Headers, Secret};
use ferryhook_net::client::{Guard, Identity};
use serde_json::Value as Json;

use super::reader::At;

/// In the form in which it is stored. `url` is the destination's, unless that is wrong itself.
pub(super) fn read(at: &At<'_>, url: Option<&str>, headers: &Headers) -> Option<Secret> {
    let Some(Json::Object(map)) = at.resolved(PEM_BYTES_MAX) else {
        at.entries(); // complains if it is no map
        return None;
    };
    let guard = at.reading.guard;
    let checked = DestinationAuth::from_map(&map)
        .and_then(|auth| check(&auth, url, headers, guard).map(|()| auth));
    match checked {
        Ok(auth) => Some(auth.to_text()),
        Err(bad) => {
            let (nearest, rest) = at.within(bad.field());
            match rest.is_empty() {
                true => nearest.complain(bad.message()),
                false => nearest.complain(format!("{rest} {}", bad.message())),
            }
            None
        }
    }
}

fn check(
    auth: &DestinationAuth,
    url: Option<&str>,
    headers: &Headers,
    guard: &Guard,
) -> Result<(), BadAuth> {
    auth.check_beside(headers)?;
    if let Credentials::Oauth2(grant) = &auth.credentials {
        let refused = |refusal: &dyn std::fmt::Display| {
            BadAuth::new("tokenUrl", format!("cannot be called: {refusal}"))
        };
        guard.target(&grant.token_url).map_err(|refusal| refused(&refusal))?;
    }
    let Some(shown) = &auth.client_certificate else { return Ok(()) };
    Identity::from_pem(&shown.certificate, shown.private_key.expose()).map_err(|bad| {
        let field = match bad.is_about_key() {
            true => "clientCertificate.privateKey",
            false => "clientCertificate.certificate",
        };
        BadAuth::new(field, bad.to_string())
    })?;
    let target = url.and_then(|url| guard.target(url).ok());
    match target.is_none_or(|target| target.is_secure()) {
        true => Ok(()),
        false => Err(BadAuth::new("clientCertificate", "can be shown over https only")),
    }
}
