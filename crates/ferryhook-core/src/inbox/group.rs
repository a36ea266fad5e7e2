//! The name of those who share an inbox.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits;

/// Lower-case letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Group(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {most} characters of a-z, 0-9, - and _, not {0:?}", most = limits::INBOX_GROUP_BYTES_MAX)]
pub struct BadGroup(String);

impl Group {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The one that everybody is in who names none.
impl Default for Group {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for Group {
    type Err = BadGroup;

    fn from_str(text: &str) -> Result<Self, BadGroup> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let fits = (1..=limits::INBOX_GROUP_BYTES_MAX).contains(&text.len());
        match fits && text.bytes().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(BadGroup(text.chars().take(limits::INBOX_GROUP_BYTES_MAX).collect())),
        }
    }
}

impl TryFrom<String> for Group {
    type Error = BadGroup;

    fn try_from(text: String) -> Result<Self, BadGroup> {
        text.parse()
    }
}

impl From<Group> for String {
    fn from(group: Group) -> Self {
        group.0
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
