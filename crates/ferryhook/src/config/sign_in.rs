//! How people sign in: who may make an account, the mail server, the platforms.

use ferryhook_api::auth::Signup;
use ferryhook_api::auth::oauth::{github, google};
use ferryhook_api::mail::Server;
use ferryhook_core::Secret;

use super::PublicUrl;
use super::values::{ConfigError, Values};

#[derive(Debug, Clone, PartialEq)]
pub struct SignIn {
    pub signup: Signup,
    pub mail: Option<Server>,
    pub github: Option<github::Settings>,
    pub google: Option<google::Settings>,
}

impl SignIn {
    pub(super) fn parse(values: &Values) -> Result<Self, ConfigError> {
        Ok(Self {
            signup: values.parse("signup", "one of open, invite, off")?,
            mail: mail(values)?,
            github: github(values)?,
            google: google(values)?,
        })
    }
}

fn mail(values: &Values) -> Result<Option<Server>, ConfigError> {
    let Some(url) = values.get("mail.smtpUrl") else { return Ok(None) };
    let from = values.need("mail.from", "an address when mail.smtpUrl is set")?;
    Ok(Some(Server { url: Secret::new(url), from }))
}

fn github(values: &Values) -> Result<Option<github::Settings>, ConfigError> {
    let Some(client_id) = values.get("github.clientId") else { return Ok(None) };
    let secret =
        values.need("github.clientSecret", "the secret that github.clientId comes with")?;
    Ok(Some(github::Settings {
        client_id: client_id.to_owned(),
        client_secret: Secret::new(secret),
        url: url(values, "github.url")?,
        api_url: url(values, "github.apiUrl")?,
    }))
}

fn google(values: &Values) -> Result<Option<google::Settings>, ConfigError> {
    let Some(client_id) = values.get("google.clientId") else { return Ok(None) };
    let secret =
        values.need("google.clientSecret", "the secret that google.clientId comes with")?;
    Ok(Some(google::Settings {
        client_id: client_id.to_owned(),
        client_secret: Secret::new(secret),
        issuer: url(values, "google.issuer")?,
    }))
}

fn url(values: &Values, key: &'static str) -> Result<String, ConfigError> {
    let url: PublicUrl = values.parse(key, "a URL such as https://git.example.com")?;
    Ok(url.0)
}
