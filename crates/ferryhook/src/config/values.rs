//! The layers: flags over variables over the file over the defaults. Values are text here, and
//! each remembers where it came from, so that every complaint can say so.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::client::place;

use super::settings::{
    CONFIG_VARIABLE, Flags, NEW_MASTER_KEY_VARIABLE, SETTINGS, Setting, is_secret,
};

const DEFAULT_FILE: &str = "ferryhook.toml";
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Ours by prefix, but for the tests of this project.
const TEST_PREFIX: &str = "FERRYHOOK_TEST_";
/// Ours, and no settings.
const OTHER_VARIABLES: [&str; 5] = [
    CONFIG_VARIABLE,
    NEW_MASTER_KEY_VARIABLE,
    place::URL_VARIABLE,
    place::KEY_VARIABLE,
    place::CONTEXT_VARIABLE,
];

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("unknown setting {key:?} in {origin}")]
    UnknownKey { key: String, origin: Origin },
    #[error("unknown setting {0} in the environment")]
    UnknownVariable(String),
    #[error("{key} must be {expected}, not {value:?} (from {origin})")]
    BadValue { key: &'static str, expected: &'static str, value: String, origin: Origin },
    #[error("{key} must be {expected} (from {origin}); what it is instead is not shown")]
    BadSecret { key: &'static str, expected: &'static str, origin: Origin },
    #[error("{one} and {other} are both set; give one of them")]
    Both { one: &'static str, other: &'static str },
    #[error("{key} must be {expected}")]
    Missing { key: &'static str, expected: &'static str },
    #[error("{key} in {origin} must be text or a number")]
    BadType { key: String, origin: Origin },
    #[error("cannot read the configuration file {file}: {cause}")]
    Unreadable { file: String, cause: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(String),
    Variable(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(file) => f.write_str(file),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => write!(f, "--{flag}"),
        }
    }
}

/// The value that counts for each setting that has one.
pub struct Values(BTreeMap<&'static str, (String, Origin)>);

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

impl Values {
    pub(super) fn gather(
        flags: &Flags,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let mut values = Self(BTreeMap::new());
        for Setting { key, default, .. } in SETTINGS {
            if let Some(value) = default {
                values.set(key, (*value).to_owned(), Origin::Default);
            }
        }
        values.read_file(flags, environment)?;
        values.read_environment(environment)?;
        for Setting { key, flag, .. } in SETTINGS {
            if let Some(value) = flags.settings.get(key) {
                values.set(key, value.clone(), Origin::Flag(flag));
            }
        }
        Ok(values)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(value, _)| value.as_str())
    }

    pub fn origin(&self, key: &str) -> &Origin {
        self.0.get(key).map_or(&Origin::Default, |(_, origin)| origin)
    }

    /// Every setting in the order of its documentation, as it may be shown.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Option<&str>, &Origin)> {
        SETTINGS.iter().map(|Setting { key, .. }| {
            let value =
                self.get(key).map(|value| if is_secret(key) { "(not shown)" } else { value });
            (*key, value, self.origin(key))
        })
    }

    pub(super) fn need(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<String, ConfigError> {
        let value = self.get(key).filter(|value| !value.is_empty()).map(str::to_owned);
        value.ok_or(ConfigError::Missing { key, expected })
    }

    pub(super) fn parse<T: FromStr>(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<T, ConfigError> {
        let value = self.get(key).unwrap_or_default();
        value.parse().map_err(|_| self.bad(key, expected))
    }

    pub(super) fn parse_within<T: FromStr + PartialOrd>(
        &self,
        key: &'static str,
        allowed: RangeInclusive<T>,
        expected: &'static str,
    ) -> Result<T, ConfigError> {
        let value = self.parse(key, expected)?;
        if !allowed.contains(&value) {
            return Err(self.bad(key, expected));
        }
        Ok(value)
    }

    pub(super) fn bad(&self, key: &'static str, expected: &'static str) -> ConfigError {
        if is_secret(key) {
            let origin = self.origin(key).clone();
            return ConfigError::BadSecret { key, expected, origin };
        }
        ConfigError::BadValue {
            key,
            expected,
            value: self.get(key).unwrap_or_default().to_owned(),
            origin: self.origin(key).clone(),
        }
    }

    fn set(&mut self, key: &'static str, value: String, origin: Origin) {
        self.0.insert(key, (value, origin));
    }

    fn read_file(
        &mut self,
        flags: &Flags,
        environment: &BTreeMap<String, String>,
    ) -> Result<(), ConfigError> {
        let named = flags.config.as_ref();
        let named =
            named.or_else(|| environment.get(CONFIG_VARIABLE).filter(|file| !file.is_empty()));
        let file = match named {
            Some(file) => file.clone(),
            None if Path::new(DEFAULT_FILE).exists() => DEFAULT_FILE.to_owned(),
            None => return Ok(()),
        };
        let table = read_toml(&file)
            .map_err(|cause| ConfigError::Unreadable { file: file.clone(), cause })?;
        self.read_table("", &table, &Origin::File(file))
    }

    fn read_table(
        &mut self,
        prefix: &str,
        table: &toml::Table,
        origin: &Origin,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = format!("{prefix}{name}");
            let inside = format!("{key}.");
            let known = SETTINGS.iter().find(|setting| setting.key == key);
            let group = SETTINGS.iter().any(|setting| setting.key.starts_with(&inside));
            let origin = origin.clone();
            match (value, known) {
                (toml::Value::Table(inner), None) if group => {
                    self.read_table(&inside, inner, &origin)?;
                }
                (_, None) => return Err(ConfigError::UnknownKey { key, origin }),
                (toml::Value::String(text), Some(setting)) => {
                    self.set(setting.key, text.clone(), origin);
                }
                (toml::Value::Integer(number), Some(setting)) => {
                    self.set(setting.key, number.to_string(), origin);
                }
                (_, Some(_)) => return Err(ConfigError::BadType { key, origin }),
            }
        }
        Ok(())
    }

    /// An empty variable counts as one that is not set.
    fn read_environment(
        &mut self,
        environment: &BTreeMap<String, String>,
    ) -> Result<(), ConfigError> {
        for (name, value) in environment {
            let setting = SETTINGS.iter().find(|setting| setting.variable == *name);
            match setting {
                Some(_) if value.is_empty() => {}
                Some(Setting { key, variable, .. }) => {
                    self.set(key, value.clone(), Origin::Variable(variable));
                }
                None if OTHER_VARIABLES.contains(&&**name) => {}
                None if name.starts_with(TEST_PREFIX) => {}
                None if name.starts_with("FERRYHOOK_") => {
                    return Err(ConfigError::UnknownVariable(name.clone()));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn read_toml(file: &str) -> Result<toml::Table, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if size.len() > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    text.parse().map_err(|error: toml::de::Error| {
        // Its first line says where. Behind it is the line itself, which may have a secret.
        let shown = error.to_string();
        format!("{}: {}", shown.lines().next().unwrap_or_default(), error.message())
    })
}
