//! Where signatures are in a header, and how they are written there.

use std::borrow::Cow;

use serde_json::Value;

use crate::Headers;
use crate::verify::encoding::base64;
use crate::verify::reason::Reason;
use crate::verify::scheme::{Encoding, Layout};
use crate::verify::values;

/// Signatures that are looked at in one request. DocuSign sends up to 100.
const SIGNATURES_MAX: usize = 128;

/// Where signatures are, and how they are written.
#[derive(Debug)]
pub(in crate::verify) struct Place {
    pub(in crate::verify) headers: Vec<String>,
    form: Written,
}

#[derive(Debug)]
enum Written {
    Bare,
    Prefix(String),
    Pairs { groups: bool, spaced: bool, separator: char, time: String, names: Vec<String> },
    Versions { version: String, separators: Vec<char> },
    Positional,
    Base64Json(String),
}

/// A signature as it was found, with the time beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::verify) struct Found<'a> {
    pub(in crate::verify) text: Cow<'a, str>,
    pub(in crate::verify) time: Option<&'a str>,
}

impl Place {
    pub(super) fn compile(headers: &[&str], form: Layout<'_>) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let pairs = |groups, separator, time: &str, names: &[&str]| Written::Pairs {
            groups,
            spaced: false,
            separator,
            time: time.to_owned(),
            names: owned(names),
        };
        let form = match form {
            Layout::Bare => Written::Bare,
            Layout::Prefix(prefix) => Written::Prefix(prefix.to_owned()),
            Layout::Pairs { separator, time, names } => pairs(false, separator, time, names),
            Layout::SpacedPairs { time, names } => Written::Pairs {
                groups: false,
                spaced: true,
                separator: ',',
                time: time.to_owned(),
                names: owned(names),
            },
            Layout::PairGroups { separator, time, names } => pairs(true, separator, time, names),
            Layout::Versions { version, separators } => {
                Written::Versions { version: version.to_owned(), separators: separators.to_vec() }
            }
            Layout::Positional => Written::Positional,
            Layout::Base64Json(name) => Written::Base64Json(name.to_owned()),
        };
        Self { headers: owned(headers), form }
    }

    /// What to call it when it is missing.
    pub(in crate::verify) fn name(&self) -> &str {
        self.headers.first().map_or("", String::as_str)
    }

    /// Every value of the first header that is there.
    pub(super) fn values<'r>(&self, headers: &'r Headers) -> impl Iterator<Item = &'r str> {
        let name = self.headers.iter().find(|name| values(headers, name).next().is_some());
        name.into_iter().flat_map(|name| values(headers, name)).collect::<Vec<_>>().into_iter()
    }

    /// At least one.
    pub(in crate::verify) fn find<'r>(
        &self,
        headers: &'r Headers,
    ) -> Result<Vec<Found<'r>>, Reason> {
        let mut found = Vec::new();
        let mut is_missing = true;
        for value in self.values(headers) {
            is_missing = false;
            self.read(value, &mut found);
            if found.len() > SIGNATURES_MAX {
                return Err(self.malformed("it has too many signatures"));
            }
        }
        if is_missing {
            return Err(Reason::MissingHeader(self.name().to_owned().into()));
        }
        if found.is_empty() {
            return Err(self.malformed(match self.form {
                Written::Bare => "it is empty",
                Written::Prefix(_) | Written::Versions { .. } => "the prefix is another one",
                Written::Pairs { .. } => "the time or the signature is missing",
                Written::Positional => "it is not a time and signatures",
                Written::Base64Json(_) => "it is not base64 of JSON with a signature",
            }));
        }
        Ok(found)
    }

    /// The header that a sender writes, with the signature as text.
    pub(super) fn write(&self, text: String, time: &str) -> (String, String) {
        let name = self.name().replace('*', "1");
        let value = match &self.form {
            Written::Bare => text,
            Written::Prefix(prefix) => format!("{prefix}{text}"),
            Written::Pairs { spaced, separator, time: time_name, names, .. } => {
                let space = if *spaced { " " } else { "" };
                let own = names.first().map_or("", String::as_str);
                match time_name.as_str() {
                    "" => format!("{own}={text}"),
                    _ => format!("{time_name}={time}{separator}{space}{own}={text}"),
                }
            }
            Written::Versions { version, .. } => format!("{version}{text}"),
            Written::Positional => format!("{time},{text}"),
            Written::Base64Json(name) => {
                let json = serde_json::json!({ name.as_str(): text }).to_string();
                Encoding::Base64.encode(json.as_bytes())
            }
        };
        (name, value)
    }

    pub(super) fn malformed(&self, why: &'static str) -> Reason {
        Reason::Malformed(self.name().to_owned().into(), why.into())
    }

    fn read<'r>(&self, value: &'r str, found: &mut Vec<Found<'r>>) {
        let some =
            |text: &'r str| (!text.is_empty()).then_some(Found { text: text.into(), time: None });
        match &self.form {
            Written::Bare => found.extend(some(value)),
            Written::Prefix(prefix) => {
                found.extend(value.strip_prefix(prefix.as_str()).and_then(some));
            }
            Written::Pairs { groups: false, separator, time, names, .. } => {
                read_pairs(value, *separator, time, names, found);
            }
            Written::Pairs { groups: true, separator, time, names, .. } => {
                for group in value.split_whitespace() {
                    read_pairs(group, *separator, time, names, found);
                }
            }
            Written::Versions { version, separators } => {
                let elements = value.split(separators.as_slice()).map(str::trim);
                let own = elements.filter_map(|one| one.strip_prefix(version.as_str()));
                found.extend(own.filter_map(some).take(SIGNATURES_MAX + 1));
            }
            Written::Base64Json(name) => {
                let json: Option<Value> =
                    base64(value).and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let text = json.as_ref().and_then(|json| json.get(name)?.as_str());
                found.extend(text.map(|text| Found { text: text.to_owned().into(), time: None }));
            }
            Written::Positional => {
                let mut elements = value.split(',').map(str::trim);
                let time = elements.next();
                let signatures = elements.filter_map(some).take(SIGNATURES_MAX + 1);
                found.extend(signatures.map(|one| Found { time, ..one }));
            }
        }
    }
}

/// Nothing is found unless there is just one time, or several that agree.
fn read_pairs<'r>(
    value: &'r str,
    separator: char,
    time_name: &str,
    names: &[String],
    found: &mut Vec<Found<'r>>,
) {
    let pairs = || {
        let pairs = value.split(separator).filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, text)| (name.trim(), text.trim()))
    };
    let mut times = pairs().filter(|(name, _)| *name == time_name).map(|(_, text)| text);
    let time = times.next().filter(|time| !time.is_empty());
    // A sender without times is one that a source describes itself.
    if (time.is_none() && !time_name.is_empty()) || times.any(|other| Some(other) != time) {
        return;
    }
    let signatures =
        pairs().filter(|(name, text)| !text.is_empty() && names.iter().any(|own| own == name));
    let signatures = signatures.take(SIGNATURES_MAX + 1);
    found.extend(signatures.map(|(_, text)| Found { text: text.into(), time }));
}
