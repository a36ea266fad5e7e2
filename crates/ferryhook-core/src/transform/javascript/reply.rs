//! What a handler returned, and what that makes of the event.

use rquickjs::{Ctx, Object, Value};
use serde_json::Value as Plain;

use super::request::{Dialect, Given, Kind, Request, method, url};
use super::thrown::HALF_A_CHARACTER;
use crate::transform::leaving::{Changes, with_headers};
use crate::transform::{Fault, Outcome, limits};
use crate::{Event, Map};

/// Why there is no outcome: the script failed once more while it was asked, or it said something
/// that cannot be.
pub(super) enum Refused {
    Failed(rquickjs::Error),
    Fault(Fault),
}

impl From<rquickjs::Error> for Refused {
    fn from(error: rquickjs::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

type Result<T> = std::result::Result<T, Refused>;

pub(super) fn outcome<'js>(
    ctx: &Ctx<'js>,
    dialect: Dialect,
    returned: &Value<'js>,
    request: &Request<'js>,
    given: &Given<'_>,
    event: &Event,
) -> Result<Outcome> {
    if returned.is_undefined() || returned.is_null() {
        let what = if returned.is_null() { "null" } else { "nothing" };
        return Ok(dropped(&format!("the transform returned {what}")));
    }
    let reader = Reader { ctx, request, given, event };
    if dialect == Dialect::Payload {
        return Ok(reader.body(returned)?.of(event));
    }
    let (name, field) = match dialect {
        Dialect::Request => ("request", "body"),
        _ => ("webhook", "payload"),
    };
    let object = returned.as_object().filter(|_| !returned.is_array() && !returned.is_function());
    let Some(object) = object else {
        let message = format!("the handler must return {name}, an object, not {}", kind(returned));
        return Err(Fault::Shape(message).into());
    };
    if dialect == Dialect::Webhook && is_true(&object.get("cancel")?) {
        return Ok(dropped("the transform cancelled it"));
    }
    let body: Value<'js> = object.get(field)?;
    if body.is_undefined() && given.kind != Kind::Empty {
        let message = format!("the handler returned an object without {field}; return {name}");
        return Err(Fault::Shape(message).into());
    }
    let mut changes = reader.body(&body)?;
    reader.headers(object, &mut changes)?;
    reader.method(object, &mut changes)?;
    match dialect {
        Dialect::Request => reader.path_and_query(object, &mut changes)?,
        _ => reader.url(object, &mut changes)?,
    }
    Ok(changes.of(event))
}

fn dropped(reason: &str) -> Outcome {
    Outcome::Dropped { reason: reason.to_owned() }
}

fn is_true(value: &Value<'_>) -> bool {
    value.as_bool().unwrap_or(!value.is_undefined() && !value.is_null())
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        value if value.is_array() => "a list",
        value if value.is_function() => "a function",
        value if value.is_string() => "a string",
        value if value.is_number() => "a number",
        value if value.is_bool() => "true or false",
        _ => "something else",
    }
}

struct Reader<'r, 'js> {
    ctx: &'r Ctx<'js>,
    request: &'r Request<'js>,
    given: &'r Given<'r>,
    event: &'r Event,
}

impl<'js> Reader<'_, 'js> {
    /// A string is sent as it is, everything else as JSON.
    fn body(&self, body: &Value<'js>) -> Result<Changes> {
        let Self { ctx, given, event, .. } = *self;
        let is_nothing = body.is_undefined() || body.is_null();
        if is_nothing && given.kind == Kind::Empty {
            return Ok(Changes::default());
        }
        if let Some(text) = body.as_string() {
            let text = text.to_string()?;
            if given.kind == Kind::Text && text == given.text {
                return Ok(Changes::default());
            }
            return Ok(Changes::text(event, text)?);
        }
        let Some(text) = ctx.json_stringify(body.clone())? else {
            let message = format!("the body cannot be written as JSON: it is {}", kind(body));
            return Err(Fault::Shape(message).into());
        };
        let text = text.to_string()?;
        if given.kind == Kind::Json
            && (text == given.text.trim() || self.is_untouched(body, &text)?)
        {
            return Ok(Changes::default());
        }
        Ok(Changes::json(event, text)?)
    }

    /// The body that the handler was given comes back, and nothing in it is different: then it
    /// leaves as it came, with every digit and space.
    fn is_untouched(&self, body: &Value<'js>, text: &str) -> Result<bool> {
        if *body != self.request.body || !body.is_object() {
            return Ok(false);
        }
        let again = self.ctx.json_stringify(self.given.value(self.ctx)?)?;
        Ok(again.map(|again| again.to_string()).transpose()?.as_deref() == Some(text))
    }

    fn headers(&self, object: &Object<'js>, changes: &mut Changes) -> Result<()> {
        let headers: Value<'js> = object.get("headers")?;
        if headers.is_undefined() || headers.is_null() {
            return Ok(());
        }
        let text = self.ctx.json_stringify(headers)?.map(|text| text.to_string()).transpose()?;
        let text = text.unwrap_or_default();
        if text == self.request.headers_text {
            return Ok(());
        }
        let returned: Map = serde_json::from_str(&text).map_err(|_| {
            Fault::Shape("headers must be an object of names and values".to_owned())
        })?;
        let mut set: Vec<(String, Option<String>)> = Vec::new();
        let before = &self.request.headers;
        for (name, value) in &returned {
            let value = header(name, value)?;
            let same = before.get(name).and_then(Plain::as_str);
            if value.is_some() && same == value.as_deref() {
                continue;
            }
            // The last one of a name counts, however it is written.
            set.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
            set.push((name.clone(), value));
        }
        let is_returned = |name: &str| returned.keys().any(|own| own.eq_ignore_ascii_case(name));
        set.extend(
            before.keys().filter(|name| !is_returned(name)).map(|name| (name.clone(), None)),
        );
        if !set.is_empty() {
            changes.set_headers(with_headers(&self.event.headers, &set)?, &set);
        }
        Ok(())
    }

    fn method(&self, object: &Object<'js>, changes: &mut Changes) -> Result<()> {
        let Some(made) = self.text(object, "method")? else { return Ok(()) };
        if made == method(self.event) {
            return Ok(());
        }
        let made = made.to_ascii_uppercase();
        if !["POST", "PUT", "PATCH", "DELETE", "GET"].contains(&made.as_str()) {
            let message = "method must be POST, PUT, PATCH, DELETE or GET";
            return Err(Fault::Shape(message.to_owned()).into());
        }
        changes.method = Some(made);
        Ok(())
    }

    fn path_and_query(&self, object: &Object<'js>, changes: &mut Changes) -> Result<()> {
        if let Some(path) = self.text(object, "path")? {
            self.set_path(&path, changes)?;
        }
        let before = self.event.query.as_deref().unwrap_or_default();
        match self.text(object, "query")? {
            Some(query) if query.trim_start_matches('?') != before => {
                return self.set_query(&query, changes);
            }
            _ => {}
        }
        let fields: Value<'js> = object.get("parsed_query")?;
        if fields.is_undefined() || fields.is_null() {
            return Ok(());
        }
        let text = self.ctx.json_stringify(fields)?.map(|text| text.to_string()).transpose()?;
        let text = text.unwrap_or_default();
        if text == self.request.fields_text {
            return Ok(());
        }
        let fields: Map = serde_json::from_str(&text)
            .map_err(|_| Fault::Shape("parsed_query must be an object".to_owned()))?;
        self.set_query(&query(&fields)?, changes)
    }

    fn url(&self, object: &Object<'js>, changes: &mut Changes) -> Result<()> {
        let Some(made) = self.text(object, "url")? else { return Ok(()) };
        if made == url(self.event) {
            return Ok(());
        }
        if !made.starts_with(['/', '?']) && !made.is_empty() {
            let message =
                "url is a path with a query here; where events go is up to the connection";
            return Err(Fault::Shape(message.to_owned()).into());
        }
        let (path, query) = made.split_once('?').unwrap_or((&made, ""));
        self.set_path(path, changes)?;
        self.set_query(query, changes)
    }

    fn set_path(&self, path: &str, changes: &mut Changes) -> Result<()> {
        if path == self.event.path.as_deref().unwrap_or_default() {
            return Ok(());
        }
        let is_fit = path.is_empty() || path.starts_with('/');
        if !is_fit || path.contains(['?', '#']) || !is_visible(path, limits::PATH_BYTES_MAX) {
            let message = "path must begin with / and have no spaces, ? or # in it";
            return Err(Fault::Shape(message.to_owned()).into());
        }
        changes.path = Some(path.to_owned());
        Ok(())
    }

    fn set_query(&self, query: &str, changes: &mut Changes) -> Result<()> {
        let query = query.trim_start_matches('?');
        if query.contains('#') || !is_visible(query, limits::QUERY_BYTES_MAX) {
            let message = "query must be encoded, without spaces or #, and not too long";
            return Err(Fault::Shape(message.to_owned()).into());
        }
        if query != self.event.query.as_deref().unwrap_or_default() {
            changes.query = Some(query.to_owned());
        }
        Ok(())
    }

    fn text(&self, object: &Object<'js>, name: &str) -> Result<Option<String>> {
        let value: Value<'js> = object.get(name)?;
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        match value.as_string() {
            Some(text) => match text.to_string() {
                Err(rquickjs::Error::Utf8(_)) => {
                    Err(Fault::Shape(HALF_A_CHARACTER.to_owned()).into())
                }
                text => Ok(Some(text?)),
            },
            None => {
                let message = format!("{name} must be a string, not {}", kind(&value));
                Err(Fault::Shape(message).into())
            }
        }
    }
}

/// What can stand in the first line of a request.
fn is_visible(text: &str, bytes_max: usize) -> bool {
    text.len() <= bytes_max && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// `None` removes it.
fn header(name: &str, value: &Plain) -> Result<Option<String>> {
    match value {
        Plain::Null => Ok(None),
        Plain::String(text) => Ok(Some(text.clone())),
        Plain::Number(number) => Ok(Some(number.to_string())),
        Plain::Bool(is) => Ok(Some(is.to_string())),
        Plain::Array(values) if values.iter().all(Plain::is_string) => {
            Ok(Some(values.iter().filter_map(Plain::as_str).collect::<Vec<_>>().join(", ")))
        }
        _ => Err(Fault::Shape(format!("the header {name:?} must be a string")).into()),
    }
}

fn query(fields: &Map) -> Result<String> {
    let mut query = String::new();
    for (name, value) in fields {
        let values = match value {
            Plain::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values {
            let text = match value {
                Plain::Null => continue,
                Plain::String(text) => text.clone(),
                Plain::Number(_) | Plain::Bool(_) => value.to_string(),
                _ => {
                    return Err(
                        Fault::Shape(format!("the query's {name:?} must be a string")).into()
                    );
                }
            };
            query.push_str(if query.is_empty() { "" } else { "&" });
            encode(name, &mut query);
            query.push('=');
            encode(&text, &mut query);
        }
    }
    Ok(query)
}

fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                into.push(char::from(byte));
            }
            _ => {
                into.push('%');
                let mut hex = String::new();
                crate::signature::push_hex(&mut hex, &[byte]);
                into.push_str(&hex.to_ascii_uppercase());
            }
        }
    }
}
