//! GitHub, or an installation of it: OAuth with PKCE, then its API says who it is.

use ferryhook_core::Secret;
use serde::Deserialize;
use url::Url;

use super::hash;
use super::platform::{Calls, Left, Returned, Somebody};
use crate::problem::Problem;

/// As it was registered there.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub client_id: String,
    pub client_secret: Secret,
    /// Without a slash at the end, as the next one.
    pub url: String,
    pub api_url: String,
}

#[derive(Debug)]
pub(super) struct Github {
    settings: Settings,
    calls: Calls,
}

/// Refusals come with status 200 as well, so that only the body tells.
#[derive(Debug, Deserialize)]
struct Exchanged {
    access_token: Option<Secret>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GithubUser {
    id: u64,
    login: String,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Email {
    email: String,
    primary: bool,
    verified: bool,
}

impl Github {
    pub(super) fn new(settings: Settings, calls: Calls) -> Self {
        Self { settings, calls }
    }

    pub(super) fn url(&self, left: &Left) -> Result<String, Problem> {
        let url = format!("{}/login/oauth/authorize", self.settings.url);
        let mut url = Url::parse(&url).map_err(|_| self.calls.away())?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &left.redirect_uri)
            .append_pair("scope", "read:user user:email")
            .append_pair("state", left.state.expose())
            .append_pair("code_challenge", &hash(left.verifier.expose()))
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    pub(super) async fn who(&self, back: &Returned) -> Result<Somebody, Problem> {
        let url = format!("{}/login/oauth/access_token", self.settings.url);
        let exchanged: Exchanged = self
            .calls
            .post_form(
                &url,
                &[
                    ("client_id", &self.settings.client_id),
                    ("client_secret", self.settings.client_secret.expose()),
                    ("code", back.code.expose()),
                    ("redirect_uri", &back.redirect_uri),
                    ("code_verifier", back.verifier.expose()),
                ],
            )
            .await?;
        let Exchanged { access_token: Some(token), error: None } = exchanged else {
            return Err(self.calls.odd("the code is not valid, or not any more"));
        };
        let api = &self.settings.api_url;
        let user: GithubUser = self.calls.get(&format!("{api}/user"), Some(&token)).await?;
        let emails: Vec<Email> =
            self.calls.get(&format!("{api}/user/emails"), Some(&token)).await?;
        let email = emails.into_iter().find(|email| email.primary && email.verified);
        Ok(Somebody {
            id: user.id.to_string(),
            email: email.map(|email| email.email),
            name: user.name.or(Some(user.login)),
        })
    }
}
