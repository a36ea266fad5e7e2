//! Destination auth: how an attempt shows its destination who sends it.
//!
//! A header, a user with a password, a token, a token that has to be fetched first (OAuth 2.0
//! client credentials), a client certificate; the certificate also beside one of the others. A
//! connection keeps it as JSON text ([`parse`](DestinationAuth::parse) says in which form), which
//! is checked when it is configured and read once by whoever sends. Nothing here fetches a token
//! or opens a certificate, and no error and no `Debug` quotes a value.

mod parse;
mod token;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{Headers, Map, Secret};

pub use parse::BadAuth;
pub use token::{BadToken, Grant, Token, TokenRequest};

/// The bounds of what is written down. Certificates come in chains.
pub const AUTH_BYTES_MAX: usize = 64 * 1024;
pub const PEM_BYTES_MAX: usize = 16 * 1024;
pub const VALUE_BYTES_MAX: usize = 2048;
pub const PARAMETERS_MAX: usize = 16;
pub const PARAMETER_NAME_BYTES_MAX: usize = 64;

const AUTHORIZATION: &str = "authorization";

#[derive(Debug, Clone, PartialEq)]
pub struct DestinationAuth {
    pub credentials: Credentials,
    pub client_certificate: Option<ClientCertificate>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Credentials {
    /// Nothing but the certificate.
    Mtls,
    Header {
        name: String,
        value: Secret,
    },
    Basic {
        username: String,
        password: Secret,
    },
    Bearer {
        token: Secret,
    },
    Oauth2(Grant),
}

/// In PEM, both: the certificate with those that vouch for it behind it, and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCertificate {
    pub certificate: String,
    pub private_key: Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DestinationAuthType)]
pub enum Kind {
    Header,
    Basic,
    Bearer,
    Oauth2,
    Mtls,
}

/// Where a token endpoint looks for the client's own id and secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DestinationAuthStyle)]
pub enum AuthStyle {
    /// In the `Authorization` header.
    #[default]
    Basic,
    /// Among the fields of the form.
    Body,
}

/// What may be shown to people: everything but the secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DestinationAuth)]
pub struct View {
    pub r#type: Kind,
    /// Of the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_style: Option<AuthStyle>,
    /// Their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<CertificateView>,
}

/// Without the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DestinationAuthCertificate)]
pub struct CertificateView {
    pub certificate: String,
}

impl DestinationAuth {
    pub fn kind(&self) -> Kind {
        match &self.credentials {
            Credentials::Mtls => Kind::Mtls,
            Credentials::Header { .. } => Kind::Header,
            Credentials::Basic { .. } => Kind::Basic,
            Credentials::Bearer { .. } => Kind::Bearer,
            Credentials::Oauth2(_) => Kind::Oauth2,
        }
    }

    /// The header that it takes for itself.
    pub fn header_name(&self) -> Option<&str> {
        match &self.credentials {
            Credentials::Mtls => None,
            Credentials::Header { name, .. } => Some(name),
            _ => Some(AUTHORIZATION),
        }
    }

    /// The same with its value, where nothing has to be fetched for it.
    pub fn header(&self) -> Option<(&str, Secret)> {
        let value = match &self.credentials {
            Credentials::Mtls | Credentials::Oauth2(_) => return None,
            Credentials::Header { value, .. } => value.clone(),
            Credentials::Basic { username, password } => basic(username, password.expose()),
            Credentials::Bearer { token } => bearer(token),
        };
        Some((self.header_name()?, value))
    }

    /// Asked when it is configured: the connection's own headers must leave it alone.
    pub fn check_beside(&self, headers: &Headers) -> Result<(), BadAuth> {
        match self.header_name() {
            Some(name) if headers.find(name).is_some() => Err(BadAuth::header_taken(name)),
            _ => Ok(()),
        }
    }

    /// The one text for this meaning, however it was written at first. For storing.
    pub fn to_text(&self) -> Secret {
        let fields = self.written(|_, secret| secret.expose().into());
        Secret::new(Value::Object(fields).to_string())
    }

    /// As it is configured, with what `secret` says in place of each secret. It is told the field,
    /// such as `clientCertificate.privateKey`.
    pub fn written(&self, secret: impl Fn(&str, &Secret) -> Value) -> Map {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            if !value.is_null() {
                fields.insert(name.to_owned(), value);
            }
        };
        put("type", json!(self.kind()));
        match &self.credentials {
            Credentials::Mtls => {}
            Credentials::Header { name, value } => {
                put("name", json!(name));
                put("value", secret("value", value));
            }
            Credentials::Basic { username, password } => {
                put("username", json!(username));
                if !password.expose().is_empty() {
                    put("password", secret("password", password));
                }
            }
            Credentials::Bearer { token } => put("token", secret("token", token)),
            Credentials::Oauth2(grant) => {
                put("tokenUrl", json!(grant.token_url));
                put("clientId", json!(grant.client_id));
                put("clientSecret", secret("clientSecret", &grant.client_secret));
                put("scope", json!(grant.scope));
                put("audience", json!(grant.audience));
                put("authStyle", json!(grant.auth_style));
                let parameters = grant.parameters.iter().map(|(name, value)| {
                    (name.clone(), secret(&format!("parameters.{name}"), value))
                });
                let parameters: Map = parameters.collect();
                if !parameters.is_empty() {
                    put("parameters", parameters.into());
                }
            }
        }
        if let Some(ClientCertificate { certificate, private_key }) = &self.client_certificate {
            let key = secret("clientCertificate.privateKey", private_key);
            put("clientCertificate", json!({ "certificate": certificate, "privateKey": key }));
        }
        fields
    }

    pub fn view(&self) -> View {
        let mut view = View {
            r#type: self.kind(),
            name: None,
            username: None,
            token_url: None,
            client_id: None,
            scope: None,
            audience: None,
            auth_style: None,
            parameters: Vec::new(),
            client_certificate: self
                .client_certificate
                .as_ref()
                .map(|one| CertificateView { certificate: one.certificate.clone() }),
        };
        match &self.credentials {
            Credentials::Mtls | Credentials::Bearer { .. } => {}
            Credentials::Header { name, .. } => view.name = Some(name.clone()),
            Credentials::Basic { username, .. } => view.username = Some(username.clone()),
            Credentials::Oauth2(grant) => {
                view.token_url = Some(grant.token_url.clone());
                view.client_id = Some(grant.client_id.clone());
                view.scope.clone_from(&grant.scope);
                view.audience.clone_from(&grant.audience);
                view.auth_style = Some(grant.auth_style);
                view.parameters = grant.parameters.iter().map(|(name, _)| name.clone()).collect();
            }
        }
        view
    }
}

/// The value of an `Authorization` header.
fn basic(username: &str, password: &str) -> Secret {
    Secret::new(format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
}

fn bearer(token: &Secret) -> Secret {
    Secret::new(format!("Bearer {}", token.expose()))
}

#[cfg(test)]
mod tests;
