//! Credentials: what an attempt shows its destination to say who sends it.
//!
//! Asked for by the courier before each attempt. Most are ready as the connection has them; a token
//! may have to be fetched first, and is then kept ([`tokens`]). When there is none, or when nobody
//! understands what is configured, nothing is sent: the attempt has failed and the destination has
//! no part in it.

mod tokens;

use std::time::Duration;

use ferryhook_core::destination_auth::{self, BadAuth, DestinationAuth, Grant};
use ferryhook_net::client::Identity;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::routes::Way;

pub(crate) use tokens::{Lent, Tokens};

/// A connection's auth, read once.
#[derive(Debug)]
pub(crate) struct Credentials {
    header: Option<(HeaderName, HeaderValue)>,
    grant: Option<Grant>,
    identity: Option<Identity>,
}

/// For one attempt.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) header: Option<(HeaderName, HeaderValue)>,
    pub(crate) identity: Option<Identity>,
    /// What the header has, if that was fetched.
    pub(crate) token: Option<Lent>,
    /// How much of the attempt's time it took to get all this.
    pub(crate) took: Duration,
}

impl Credentials {
    pub(crate) fn parse(text: &str) -> Result<Self, BadAuth> {
        let auth = DestinationAuth::parse(text)?;
        let header = match auth.header() {
            Some((name, value)) => {
                let unfit = |_| BadAuth::new("", "cannot stand in a header");
                let name = name.parse().map_err(|_| unfit(()))?;
                let value = HeaderValue::try_from(value.expose()).map_err(|_| unfit(()))?;
                Some((name, hidden(value)))
            }
            None => None,
        };
        let identity = match &auth.client_certificate {
            Some(one) => {
                let read = Identity::from_pem(&one.certificate, one.private_key.expose());
                let unfit =
                    |bad| BadAuth::new("clientCertificate", format!("cannot be used: {bad}"));
                Some(read.map_err(unfit)?)
            }
            None => None,
        };
        let grant = match auth.credentials {
            destination_auth::Credentials::Oauth2(grant) => Some(grant),
            _ => None,
        };
        Ok(Self { header, grant, identity })
    }
}

/// What this attempt shows, or in a sentence why it cannot be made.
pub(crate) async fn show(way: &Way, tokens: &Tokens) -> Result<Shown, String> {
    let unread = |error| format!("the credentials for the destination cannot be read: {error}");
    let credentials = way.credentials().map_err(unread)?;
    let Some(credentials) = credentials else { return Ok(Shown::default()) };
    let identity = credentials.identity.clone();
    let Some(grant) = &credentials.grant else {
        let header = credentials.header.clone();
        return Ok(Shown { header, identity, ..Shown::default() });
    };
    let (token, took) =
        tokens.get(&way.connection, grant, identity.as_ref(), way.timeout()).await?;
    let header = Some((AUTHORIZATION, token.authorization()));
    Ok(Shown { header, identity, token: Some(token), took })
}

/// Whoever prints a request does not print this.
fn hidden(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests;
