//! Reads it from the JSON that somebody wrote, and says which field is wrong.
//!
//! ```json
//! { "type": "header", "name": "X-Api-Key", "value": "…" }
//! { "type": "basic", "username": "…", "password": "…" }
//! { "type": "bearer", "token": "…" }
//! { "type": "oauth2", "tokenUrl": "…", "clientId": "…", "clientSecret": "…", "scope": "…",
//!   "audience": "…", "authStyle": "basic", "parameters": { "resource": "…" } }
//! { "type": "mtls", "clientCertificate": { "certificate": "…", "privateKey": "…" } }
//! ```
//!
//! Each may have a `clientCertificate`. By hand and not by serde, whose errors quote what they do
//! not like.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::token::RESERVED_PARAMETERS;
use super::{
    AUTH_BYTES_MAX, AuthStyle, ClientCertificate, Credentials, DestinationAuth, Grant,
    PARAMETER_NAME_BYTES_MAX, PARAMETERS_MAX, PEM_BYTES_MAX, VALUE_BYTES_MAX, bearer,
};
use crate::limits::URL_BYTES_MAX;
use crate::outgoing::{self, BadHeader};
use crate::{Map, Secret};

/// What is wrong, and with which field. The message stands for itself beside the field's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAuth {
    field: String,
    message: Cow<'static, str>,
}

impl BadAuth {
    /// For a check that is made elsewhere: of an address, of a certificate.
    pub fn new(field: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    pub(super) fn header_taken(name: &str) -> Self {
        Self::new("", format!("sets the header {name}, which stands in headers too"))
    }

    /// Such as `clientCertificate.privateKey`; empty for the whole.
    pub fn field(&self) -> &str {
        &self.field
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    fn below(self, field: &str) -> Self {
        let field = match self.field.is_empty() {
            true => field.to_owned(),
            false => format!("{field}.{}", self.field),
        };
        Self { field, ..self }
    }
}

impl fmt::Display for BadAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.is_empty() {
            true => write!(f, "auth {}", self.message),
            false => write!(f, "auth.{} {}", self.field, self.message),
        }
    }
}

impl std::error::Error for BadAuth {}

const KINDS: &str = "must be one of header, basic, bearer, oauth2, mtls";

impl DestinationAuth {
    /// From text, as a connection keeps it.
    pub fn parse(text: &str) -> Result<Self, BadAuth> {
        if text.len() > AUTH_BYTES_MAX {
            return Err(too_long());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Self::from_map(&map),
            _ => Err(BadAuth::new("", "must be a JSON object")),
        }
    }

    /// What it may lack, its address being callable and its certificate fit to use, is for those
    /// to say who call and show it.
    pub fn from_map(map: &Map) -> Result<Self, BadAuth> {
        let fields = Fields(map);
        let kind = fields.find("type")?.ok_or_else(|| missing("type"))?;
        let (credentials, known): (_, &[&str]) = match kind {
            "header" => (header(&fields)?, &["name", "value"]),
            "basic" => (basic(&fields)?, &["username", "password"]),
            "bearer" => (bearer_token(&fields)?, &["token"]),
            "oauth2" => (oauth2(&fields)?, &OAUTH2),
            "mtls" => (Credentials::Mtls, &[]),
            _ => return Err(BadAuth::new("type", KINDS)),
        };
        let always = ["type", "clientCertificate"];
        fields.only(|name| known.contains(&name) || always.contains(&name))?;
        let client_certificate = match fields.map("clientCertificate")? {
            Some(map) => {
                let read = certificate(&Fields(map));
                Some(read.map_err(|bad| bad.below("clientCertificate"))?)
            }
            None if credentials == Credentials::Mtls => return Err(missing("clientCertificate")),
            None => None,
        };
        let auth = Self { credentials, client_certificate };
        match auth.to_text().expose().len() {
            0..=AUTH_BYTES_MAX => Ok(auth),
            _ => Err(too_long()),
        }
    }
}

fn header(fields: &Fields<'_>) -> Result<Credentials, BadAuth> {
    let (name, value) = (fields.text("name")?, fields.text("value")?);
    // Its messages name the header and never quote the value.
    outgoing::check_custom(name, value).map_err(|bad| {
        let is_value = matches!(bad, BadHeader::Value(_) | BadHeader::ValueTooLong(_));
        let field = if is_value { "value" } else { "name" };
        BadAuth::new(field, format!("cannot be used: {bad}"))
    })?;
    Ok(Credentials::Header { name: name.to_owned(), value: Secret::new(value) })
}

fn basic(fields: &Fields<'_>) -> Result<Credentials, BadAuth> {
    let username = fields.line("username")?;
    if username.contains(':') {
        return Err(BadAuth::new("username", "must not have a colon, which ends it"));
    }
    // Some take a key for the user and want no password.
    let password = fields.find_line("password")?.unwrap_or_default();
    Ok(Credentials::Basic { username: username.to_owned(), password: Secret::new(password) })
}

fn bearer_token(fields: &Fields<'_>) -> Result<Credentials, BadAuth> {
    let token = Secret::new(fields.text("token")?);
    if !is_visible(token.expose()) {
        return Err(BadAuth::new("token", "must be made of visible ASCII characters, no spaces"));
    }
    let is_short = bearer(&token).expose().len() <= outgoing::CUSTOM_VALUE_BYTES_MAX;
    match is_short {
        true => Ok(Credentials::Bearer { token }),
        false => Err(BadAuth::new("token", "is too long for a header")),
    }
}

const OAUTH2: [&str; 7] =
    ["tokenUrl", "clientId", "clientSecret", "scope", "audience", "authStyle", "parameters"];

fn oauth2(fields: &Fields<'_>) -> Result<Credentials, BadAuth> {
    let token_url = fields.text("tokenUrl")?;
    if token_url.len() > URL_BYTES_MAX {
        return Err(BadAuth::new("tokenUrl", format!("has more than {URL_BYTES_MAX} bytes")));
    }
    let auth_style = match fields.find("authStyle")? {
        None => AuthStyle::default(),
        Some("basic") => AuthStyle::Basic,
        Some("body") => AuthStyle::Body,
        Some(_) => return Err(BadAuth::new("authStyle", "must be one of basic, body")),
    };
    let parameters = match fields.map("parameters")? {
        Some(map) => parameters(map).map_err(|bad| bad.below("parameters"))?,
        None => Vec::new(),
    };
    Ok(Credentials::Oauth2(Grant {
        token_url: token_url.to_owned(),
        client_id: fields.line("clientId")?.to_owned(),
        client_secret: Secret::new(fields.line("clientSecret")?),
        scope: fields.find_line("scope")?.map(str::to_owned),
        audience: fields.find_line("audience")?.map(str::to_owned),
        auth_style,
        parameters,
    }))
}

fn parameters(map: &Map) -> Result<Vec<(String, Secret)>, BadAuth> {
    if map.len() > PARAMETERS_MAX {
        return Err(BadAuth::new("", format!("has more than {PARAMETERS_MAX} fields")));
    }
    let fields = Fields(map);
    let read = |name: &String| {
        if !is_visible(name) || name.len() > PARAMETER_NAME_BYTES_MAX {
            let message = format!("its names have 1 to {PARAMETER_NAME_BYTES_MAX} letters");
            return Err(BadAuth::new("", message));
        }
        if RESERVED_PARAMETERS.contains(&name.as_str()) {
            return Err(BadAuth::new(name, "has a field of its own"));
        }
        Ok((name.clone(), Secret::new(fields.line(name)?)))
    };
    map.keys().map(read).collect()
}

fn certificate(fields: &Fields<'_>) -> Result<ClientCertificate, BadAuth> {
    fields.only(|name| matches!(name, "certificate" | "privateKey"))?;
    Ok(ClientCertificate {
        certificate: pem(fields, "certificate")?,
        private_key: Secret::new(pem(fields, "privateKey")?),
    })
}

/// Line breaks may be written as `\n`, as they are in variables that have only one line.
fn pem(fields: &Fields<'_>, name: &str) -> Result<String, BadAuth> {
    let text = fields.text(name)?;
    if text.len() > PEM_BYTES_MAX {
        return Err(BadAuth::new(name, format!("has more than {PEM_BYTES_MAX} bytes")));
    }
    if !text.contains("-----BEGIN ") {
        return Err(BadAuth::new(name, "is not PEM: it has no -----BEGIN"));
    }
    Ok(text.replace("\\r", "").replace("\\n", "\n"))
}

struct Fields<'a>(&'a Map);

impl<'a> Fields<'a> {
    fn only(&self, is_known: impl Fn(&str) -> bool) -> Result<(), BadAuth> {
        match self.0.keys().find(|name| !is_known(name)) {
            Some(name) => Err(BadAuth::new(name, "is no field of this type")),
            None => Ok(()),
        }
    }

    fn map(&self, name: &str) -> Result<Option<&'a Map>, BadAuth> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(BadAuth::new(name, "must be a map")),
        }
    }

    fn find(&self, name: &str) -> Result<Option<&'a str>, BadAuth> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(BadAuth::new(name, "must be text")),
        }
    }

    fn text(&self, name: &str) -> Result<&'a str, BadAuth> {
        self.find(name)?.filter(|text| !text.is_empty()).ok_or_else(|| missing(name))
    }

    /// Text of moderate length without line breaks and other control characters.
    fn find_line(&self, name: &str) -> Result<Option<&'a str>, BadAuth> {
        let Some(text) = self.find(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
        if text.len() > VALUE_BYTES_MAX {
            return Err(BadAuth::new(name, format!("has more than {VALUE_BYTES_MAX} bytes")));
        }
        match text.contains(char::is_control) {
            true => Err(BadAuth::new(name, "has a line break or other control character in it")),
            false => Ok(Some(text)),
        }
    }

    fn line(&self, name: &str) -> Result<&'a str, BadAuth> {
        self.find_line(name)?.ok_or_else(|| missing(name))
    }
}

fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn missing(name: &str) -> BadAuth {
    BadAuth::new(name, "is missing")
}

fn too_long() -> BadAuth {
    BadAuth::new("", format!("has more than {AUTH_BYTES_MAX} bytes"))
}
