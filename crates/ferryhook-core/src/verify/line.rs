//! A request and what to verify it with, as one line of JSON: for the command line and for tests.
//!
//! ```json
//! {"provider":"github","method":"POST","url":"https://…","headers":{"X-Hub-Signature-256":"…"},
//!  "body":"…","secret":"…","now":1700000000,"config":{}}
//! ```
//! `bodyBase64` stands in for a body that is no text, `secret` may be a list, `previousSecrets` has
//! more of them, and headers may be a list of pairs.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{BadVerifier, Certificates, Request, Verdict, Verifier, doctor};
use crate::{Headers, Secret, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub provider: String,
    #[serde(default = "post")]
    pub method: String,
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    headers: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(default, alias = "body_base64", skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    #[serde(default, alias = "secrets", skip_serializing_if = "Value::is_null")]
    secret: Value,
    /// More of them, which still count.
    #[serde(default, alias = "previous_secrets", skip_serializing_if = "Value::is_null")]
    previous_secrets: Value,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "seconds")]
    now: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
    /// Certificates by their URL, for those who need them and cannot fetch any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    certificates: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    #[error("the line is not understood: {0}")]
    Json(#[from] serde_json::Error),
    #[error("headers are an object or a list of pairs, and each value is text or a list of texts")]
    Headers,
    #[error("bodyBase64 is not base64")]
    Body,
    #[error("secret is a text or a list of texts")]
    Secret,
    #[error(transparent)]
    Verifier(#[from] BadVerifier),
}

/// A number, also as a text.
fn seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let bad = || serde::de::Error::custom("now is a number of seconds");
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => number.as_f64().map(Some).ok_or_else(bad),
        Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| bad()),
        Some(_) => Err(bad()),
    }
}

fn post() -> String {
    "POST".to_owned()
}

impl Line {
    pub fn parse(text: &str) -> Result<Self, BadLine> {
        Ok(serde_json::from_str(text)?)
    }

    /// One that says what was sent, and with which secret.
    pub fn new(provider: &str, request: &Request<'_>, secret: &str, now: Timestamp) -> Self {
        let mut headers = Map::new();
        for (name, value) in request.headers.iter() {
            headers.insert(name.to_owned(), value.into());
        }
        let text = std::str::from_utf8(request.body).ok();
        Self {
            provider: provider.to_owned(),
            method: request.method.to_owned(),
            url: request.url.to_owned(),
            headers: headers.into(),
            body: text.map(str::to_owned),
            body_base64: text.is_none().then(|| STANDARD.encode(request.body)),
            secret: secret.into(),
            previous_secrets: Value::Null,
            now: Some(now.as_millis() as f64 / 1000.0),
            config: None,
            certificates: BTreeMap::new(),
        }
    }

    /// Says whether it holds, at its own time or else at this one.
    pub fn verdict(&self, now: Timestamp) -> Result<Verdict, BadLine> {
        let verifier = self.verifier()?;
        let (headers, body) = (self.headers()?, self.body()?);
        let request =
            Request { method: &self.method, url: &self.url, headers: &headers, body: &body };
        Ok(verifier.check(&request, self.now().unwrap_or(now), &Given(&self.certificates)))
    }

    /// Why it does not hold, as the doctor sees it.
    pub fn explain(&self, now: Timestamp) -> Result<String, BadLine> {
        let verifier = self.verifier()?;
        let (headers, body) = (self.headers()?, self.body()?);
        let request =
            Request { method: &self.method, url: &self.url, headers: &headers, body: &body };
        let now = self.now().unwrap_or(now);
        Ok(doctor::explain(&verifier, &request, now, &Given(&self.certificates), &[]))
    }

    pub fn verifier(&self) -> Result<Verifier, BadLine> {
        let config = self.config.clone().unwrap_or_default();
        Ok(Verifier::new(&self.provider, &self.secrets()?, &config)?)
    }

    /// Saturates; such a time is far from every other.
    pub fn now(&self) -> Option<Timestamp> {
        self.now.map(|seconds| Timestamp::from_millis((seconds * 1000.0).round() as i64))
    }

    pub fn headers(&self) -> Result<Headers, BadLine> {
        let mut pairs = Vec::new();
        match &self.headers {
            Value::Null => {}
            Value::Object(headers) => {
                for (name, value) in headers {
                    push(&mut pairs, name, value)?;
                }
            }
            Value::Array(list) => {
                for pair in list {
                    match pair.as_array().map(Vec::as_slice) {
                        Some([Value::String(name), value]) => push(&mut pairs, name, value)?,
                        _ => return Err(BadLine::Headers),
                    }
                }
            }
            _ => return Err(BadLine::Headers),
        }
        Ok(Headers::new(pairs))
    }

    pub fn body(&self) -> Result<Vec<u8>, BadLine> {
        match (&self.body_base64, &self.body) {
            (Some(text), _) => STANDARD.decode(text.trim()).map_err(|_| BadLine::Body),
            (None, Some(text)) => Ok(text.clone().into_bytes()),
            (None, None) => Ok(Vec::new()),
        }
    }

    pub fn secrets(&self) -> Result<Vec<Secret>, BadLine> {
        let one = |value: &Value| match value {
            Value::String(text) => Ok(Secret::new(text.clone())),
            // A key as JSON, which somebody forgot to quote.
            Value::Object(_) => Ok(Secret::new(value.to_string())),
            _ => Err(BadLine::Secret),
        };
        let all = |value: &Value| match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(list) => list.iter().map(one).collect(),
            value => Ok(vec![one(value)?]),
        };
        Ok([all(&self.secret)?, all(&self.previous_secrets)?].concat())
    }
}

fn push(pairs: &mut Vec<(String, String)>, name: &str, value: &Value) -> Result<(), BadLine> {
    match value {
        Value::String(text) => pairs.push((name.to_owned(), text.clone())),
        Value::Number(number) => pairs.push((name.to_owned(), number.to_string())),
        Value::Bool(truth) => pairs.push((name.to_owned(), truth.to_string())),
        Value::Null => {}
        Value::Array(list) => {
            for value in list {
                match value {
                    Value::String(text) => pairs.push((name.to_owned(), text.clone())),
                    _ => return Err(BadLine::Headers),
                }
            }
        }
        Value::Object(_) => return Err(BadLine::Headers),
    }
    Ok(())
}

struct Given<'a>(&'a BTreeMap<String, String>);

impl Certificates for Given<'_> {
    fn find(&self, url: &str) -> Option<Bytes> {
        self.0.get(url).map(|text| text.clone().into())
    }
}

#[cfg(test)]
mod tests;
