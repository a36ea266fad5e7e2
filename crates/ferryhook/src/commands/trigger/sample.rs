//! A sample: what a provider might send, with blanks for what is new each time.

use ferryhook_core::Env;
use ferryhook_core::verify::sign::Draft;
use serde_json::{Map, Value};

use super::form;

#[derive(Debug)]
pub struct Sample {
    pub provider: &'static str,
    pub event: &'static str,
    pub about: &'static str,
    /// Beside the signature, which comes later. With the same blanks as the body.
    pub headers: &'static [(&'static str, &'static str)],
    pub body: Body,
}

#[derive(Debug)]
pub enum Body {
    Json(&'static str),
    /// A field on each line.
    Form(&'static str),
}

impl Sample {
    /// The body as it is now; a form is an object of its fields.
    pub fn body(&self, env: &Env) -> Value {
        match self.body {
            // A test reads every one of them.
            Body::Json(text) => serde_json::from_str(&filled(text, env)).unwrap_or_default(),
            Body::Form(text) => {
                let filled = filled(text, env);
                let fields = filled.lines().filter_map(|line| line.split_once('='));
                let fields: Map<_, _> =
                    fields.map(|(name, value)| (name.to_owned(), value.into())).collect();
                fields.into()
            }
        }
    }

    pub fn draft(&self, url: &str, body: &Value, env: &Env) -> Draft {
        let (content_type, body) = match self.body {
            Body::Json(_) => ("application/json", body.to_string()),
            Body::Form(_) => ("application/x-www-form-urlencoded", form(body)),
        };
        let mut headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let own = self.headers.iter();
        headers.extend(own.map(|(name, value)| ((*name).to_owned(), filled(value, env))));
        Draft { method: "POST".to_owned(), url: url.to_owned(), headers, body: body.into_bytes() }
    }
}

/// With something in each blank.
fn filled(text: &str, env: &Env) -> String {
    let now = env.now();
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((blank, after)) = behind.split_once("}}") else { break };
        filled.push_str(before);
        filled.push_str(&match blank {
            "now" => now.to_string(),
            "seconds" | "seconds_text" => now.as_seconds().to_string(),
            "millis" => now.as_millis().to_string(),
            "number" => (now.as_millis() % 1_000_000_000).to_string(),
            "uuid" => uuid(env),
            blank => match blank.strip_prefix("hex").and_then(|count| count.parse().ok()) {
                Some(count) => hex(count, env),
                None => blank.to_owned(),
            },
        });
        rest = after;
    }
    filled + rest
}

fn hex(count: usize, env: &Env) -> String {
    let mut bytes = vec![0; count.div_ceil(2)];
    env.fill(&mut bytes);
    let mut text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(count);
    text
}

fn uuid(env: &Env) -> String {
    let hex = hex(32, env);
    let (a, b, c, d) = (&hex[..8], &hex[8..12], &hex[13..16], &hex[17..20]);
    format!("{a}-{b}-4{c}-a{d}-{}", &hex[20..32])
}
