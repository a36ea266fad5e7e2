//! A secret that comes along with the request: a token, or name and password.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use serde_json::Value;

use super::document::form_fields;
use super::encoding::base64;
use super::keys::Dated;
use super::options::Options;
use super::reason::{BadVerifier, Reason};
use super::scheme::{Token, TokenPlace};
use super::template::path_and_query;
use super::{Request, only_value};
use crate::Timestamp;

const AUTHORIZATION: &str = "authorization";
/// Items of one body that are looked at.
const ITEMS_MAX: usize = 1000;

#[derive(Debug)]
pub(super) struct Checker {
    basic: bool,
    places: Vec<Place>,
    /// What has to come along.
    expected: Vec<Dated<String>>,
}

#[derive(Debug)]
enum Place {
    Header(String),
    Query(String),
    Each(String, String),
}

impl Checker {
    pub(super) fn compile(
        scheme: &Token<'_>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let user = options.find(&["username", "user"]);
        let password = options.find(&["password"]);
        let mut expected: Vec<_> = secrets
            .iter()
            .map(|secret| {
                let value = match &user {
                    Some(user)
                        if scheme.basic && !secret.value.starts_with(&format!("{user}:")) =>
                    {
                        format!("{user}:{}", secret.value)
                    }
                    _ => secret.value.to_owned(),
                };
                Dated { value, until: secret.until }
            })
            .collect();
        if let (Some(user), Some(password), true) = (&user, &password, scheme.basic) {
            expected.insert(0, Dated { value: format!("{user}:{password}"), until: None });
        }
        expected.retain(|one| !one.value.is_empty());
        if expected.is_empty() {
            return Err(BadVerifier::NoSecret);
        }
        if scheme.only_basic && expected.iter().any(|one| !one.value.contains(':')) {
            return Err(BadVerifier::Secret("it is written as user:password"));
        }
        let mut places: Vec<Place> = scheme.places.iter().map(Place::of).collect();
        if let Some(header) = options.find(&["header", "headerName"]) {
            places = vec![Place::Header(header.into_owned())];
        } else if let Some(name) = options.find(&["parameter", "queryParameter"]) {
            places = vec![Place::Query(name.into_owned())];
        }
        Ok(Self { basic: scheme.basic, places, expected })
    }

    pub(super) fn is_present(&self, request: &Request<'_>) -> bool {
        let has_basic = self.basic && request.headers.find(AUTHORIZATION).is_some();
        has_basic
            || self.places.iter().any(|place| match place {
                Place::Header(name) => request.headers.find(name).is_some(),
                Place::Query(_) | Place::Each(..) => true,
            })
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        if self.basic && request.headers.find(AUTHORIZATION).is_some() {
            let value = only_value(request.headers, AUTHORIZATION)?;
            if let Some(pair) = behind(value, "basic ") {
                let pair = base64(pair).ok_or(Reason::Credentials)?;
                return self.compare(&pair, now).then_some(()).ok_or(Reason::Credentials);
            }
        }
        let mut missing = None;
        for place in &self.places {
            match place.tokens(request) {
                Ok(tokens) => {
                    let is_right = tokens.iter().all(|token| self.is_token(token, now));
                    return is_right.then_some(()).ok_or(Reason::Token);
                }
                Err(reason) => missing = missing.or(Some(reason)),
            }
        }
        Err(missing.unwrap_or_else(|| Reason::MissingHeader(AUTHORIZATION.into())))
    }

    /// As it is, or behind the word that `Authorization` has before a token.
    fn is_token(&self, given: &str, now: Timestamp) -> bool {
        let bare = behind(given, "bearer ").unwrap_or(given);
        self.compare(given.as_bytes(), now) | self.compare(bare.as_bytes(), now)
    }

    fn compare(&self, given: &[u8], now: Timestamp) -> bool {
        let valid = self.expected.iter().filter(|one| one.is_valid(now));
        valid.fold(false, |matches, one| {
            matches | verify_slices_are_equal(one.value.as_bytes(), given).is_ok()
        })
    }

    /// Where a sender would put it: a header, or a name and value in the query.
    pub(super) fn sign(&self) -> Option<Shown> {
        let expected = &self.expected.first()?.value;
        if self.basic && expected.contains(':') {
            let value = super::scheme::Encoding::Base64.encode(expected.as_bytes());
            return Some(Shown::Header(AUTHORIZATION.to_owned(), format!("Basic {value}")));
        }
        Some(match self.places.first()? {
            Place::Header(name) => Shown::Header(name.clone(), expected.clone()),
            Place::Query(name) => Shown::Query(name.clone(), expected.clone()),
            Place::Each(list, name) => Shown::Each(list.clone(), name.clone(), expected.clone()),
        })
    }
}

/// A token in its place.
#[derive(Debug)]
pub(super) enum Shown {
    Header(String, String),
    Query(String, String),
    Each(String, String, String),
}

impl Place {
    fn of(place: &TokenPlace<'_>) -> Self {
        match *place {
            TokenPlace::Header(name) => Self::Header(name.to_owned()),
            TokenPlace::Query(name) => Self::Query(name.to_owned()),
            TokenPlace::Each(list, name) => Self::Each(list.to_owned(), name.to_owned()),
        }
    }

    /// At least one; every one has to be right.
    fn tokens(&self, request: &Request<'_>) -> Result<Vec<String>, Reason> {
        match self {
            Self::Header(name) => Ok(vec![only_value(request.headers, name)?.to_owned()]),
            Self::Query(name) => {
                let fields = form_fields(path_and_query(request.url).1);
                let own = fields
                    .into_iter()
                    .flatten()
                    .find(|(own, value)| own == name && !value.is_empty());
                let missing = || Reason::Url(format!("the parameter {name} is missing").into());
                Ok(vec![own.ok_or_else(missing)?.1.into_owned()])
            }
            Self::Each(list, name) => {
                let missing = || Reason::Body(format!("the field {name} is missing").into());
                let body: Value = serde_json::from_slice(request.body).map_err(|_| missing())?;
                let items = body.pointer(list).and_then(Value::as_array).ok_or_else(missing)?;
                if items.is_empty() || items.len() > ITEMS_MAX {
                    return Err(missing());
                }
                let token = |item: &Value| item.get(name)?.as_str().map(str::to_owned);
                items.iter().map(|item| token(item).ok_or_else(missing)).collect()
            }
        }
    }
}

fn behind<'a>(value: &'a str, word: &str) -> Option<&'a str> {
    let head = value.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| value[word.len()..].trim())
}

#[cfg(test)]
mod tests;
