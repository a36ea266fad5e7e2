//! Client credentials: what is asked of a token endpoint (RFC 6749, section 4.4), and what its
//! answer means.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{AuthStyle, basic, bearer};
use crate::Secret;

/// Whom to ask for a token, and as whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub token_url: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub scope: Option<String>,
    pub audience: Option<String>,
    pub auth_style: AuthStyle,
    /// What this server wants beside all that.
    pub parameters: Vec<(String, Secret)>,
}

/// What has a field of its own, or is ours to say.
pub(super) const RESERVED_PARAMETERS: [&str; 5] =
    ["grant_type", "client_id", "client_secret", "scope", "audience"];

/// What goes to the endpoint.
#[derive(Debug)]
pub struct TokenRequest {
    /// The value of the header of this name, if there has to be one.
    pub authorization: Option<Secret>,
    /// `application/x-www-form-urlencoded`.
    pub form: Secret,
}

/// One that was granted, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The value of an `Authorization` header.
    pub authorization: Secret,
    pub lifetime: Duration,
}

/// Why there is none. Of the answer only the code for its error is quoted, which has no secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    #[error("the token endpoint answered {0}")]
    Status(u16),
    #[error("the token endpoint answered {0}: {1}")]
    Refused(u16, String),
    #[error("the token endpoint's answer is not understood: {0}")]
    Unreadable(&'static str),
}

/// Where the endpoint does not say how long, and how long at most is believed.
const LIFETIME_DEFAULT: Duration = Duration::from_secs(5 * 60);
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Longer ones are refused: many servers take no longer header.
const TOKEN_BYTES_MAX: usize = 8 * 1024;
const CODE_CHARACTERS_MAX: usize = 64;

impl Grant {
    pub fn request(&self) -> TokenRequest {
        let mut form = Form(String::from("grant_type=client_credentials"));
        for (name, value) in [("scope", &self.scope), ("audience", &self.audience)] {
            if let Some(value) = value {
                form.add(name, value);
            }
        }
        for (name, value) in &self.parameters {
            form.add(name, value.expose());
        }
        let authorization = match self.auth_style {
            // Each half as in a form, before they are put together (section 2.3.1).
            AuthStyle::Basic => {
                Some(basic(&encoded(&self.client_id), &encoded(self.client_secret.expose())))
            }
            AuthStyle::Body => {
                form.add("client_id", &self.client_id);
                form.add("client_secret", self.client_secret.expose());
                None
            }
        };
        TokenRequest { authorization, form: Secret::new(form.0) }
    }
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: Option<Value>,
}

impl Token {
    /// From what the endpoint answered.
    pub fn read(status: u16, body: &[u8]) -> Result<Self, BadToken> {
        if !(200..300).contains(&status) {
            return Err(match error_code(body) {
                Some(code) => BadToken::Refused(status, code),
                None => BadToken::Status(status),
            });
        }
        // Some say 200 and mean no.
        let Ok(granted) = serde_json::from_slice::<Granted>(body) else {
            return Err(match error_code(body) {
                Some(code) => BadToken::Refused(status, code),
                None => BadToken::Unreadable("there is no access_token in JSON"),
            });
        };
        let kind = granted.token_type.as_deref().unwrap_or("bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(BadToken::Unreadable("its token_type is not Bearer"));
        }
        let token = Secret::new(granted.access_token);
        let is_fit = (1..=TOKEN_BYTES_MAX).contains(&token.expose().len())
            && token.expose().bytes().all(|byte| byte.is_ascii_graphic());
        if !is_fit {
            return Err(BadToken::Unreadable("its access_token cannot stand in a header"));
        }
        let lifetime = granted.expires_in.as_ref().and_then(seconds).unwrap_or(LIFETIME_DEFAULT);
        Ok(Self { authorization: bearer(&token), lifetime: lifetime.min(LIFETIME_MAX) })
    }
}

/// A number; some write it as text.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO))
}

/// Such as `invalid_client`.
fn error_code(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let code = answer.get("error")?.as_str()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_code = (1..=CODE_CHARACTERS_MAX).contains(&code.len()) && code.chars().all(is_word);
    is_code.then(|| code.to_owned())
}

struct Form(String);

impl Form {
    fn add(&mut self, name: &str, value: &str) {
        for (before, text) in [('&', name), ('=', value)] {
            self.0.push(before);
            self.0.push_str(&encoded(text));
        }
    }
}

/// As in a form: a space is a plus.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                for half in [byte >> 4, byte & 15] {
                    out.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
                }
            }
        }
    }
    out
}
