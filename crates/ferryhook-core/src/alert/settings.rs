//! When an account wants to be alerted, and how: `alerts` in its settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Map, limits};

/// The name in an account's settings.
const NAME: &str = "alerts";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Given up within the window.
    pub dead_deliveries: u32,
    /// In a row, within the window.
    pub failed_attempts: u32,
    pub window: Duration,
    /// A letter as soon as something fires or is over.
    pub mail: bool,
    pub digest: Digest,
}

/// How often a letter sums up what happened, if anything did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digest {
    Off,
    Hourly,
    #[default]
    Daily,
}

impl Digest {
    pub fn period(self) -> Option<Duration> {
        match self {
            Self::Off => None,
            Self::Hourly => Some(Duration::from_secs(60 * 60)),
            Self::Daily => Some(Duration::from_secs(24 * 60 * 60)),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dead_deliveries: 1,
            failed_attempts: 10,
            window: Duration::from_secs(60 * 60),
            mail: false,
            digest: Digest::default(),
        }
    }
}

/// The settings are not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadSettings {
    /// Within the account's settings.
    pub pointer: String,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    dead_deliveries: Option<u32>,
    failed_attempts: Option<u32>,
    window_minutes: Option<u64>,
    mail: Option<bool>,
    digest: Option<Digest>,
}

impl Settings {
    /// Those of an account whose settings these are; what is not said is as usual.
    pub fn read(settings: Option<&Map>) -> Result<Self, BadSettings> {
        let usual = Self::default();
        let Some(value) = settings.and_then(|settings| settings.get(NAME)) else {
            return Ok(usual);
        };
        let written: Written = serde_json::from_value(value.clone()).map_err(|error| {
            BadSettings { pointer: format!("/{NAME}"), message: error.to_string() }
        })?;
        let bounded = |name: &str, value: u64, max: u64| match (1..=max).contains(&value) {
            true => Ok(value),
            false => Err(BadSettings {
                pointer: format!("/{NAME}/{name}"),
                message: format!("must be between 1 and {max}"),
            }),
        };
        let count = |name: &str, value: Option<u32>, usual: u32| {
            let value = u64::from(value.unwrap_or(usual));
            let value = bounded(name, value, limits::ALERT_FAILURES_MAX.into())?;
            Ok(u32::try_from(value).unwrap_or(usual))
        };
        let minutes = written.window_minutes.unwrap_or(usual.window.as_secs() / 60);
        let minutes = bounded("windowMinutes", minutes, limits::ALERT_WINDOW_MINUTES_MAX)?;
        Ok(Self {
            dead_deliveries: count(
                "deadDeliveries",
                written.dead_deliveries,
                usual.dead_deliveries,
            )?,
            failed_attempts: count(
                "failedAttempts",
                written.failed_attempts,
                usual.failed_attempts,
            )?,
            window: Duration::from_secs(60 * minutes),
            mail: written.mail.unwrap_or(usual.mail),
            digest: written.digest.unwrap_or(usual.digest),
        })
    }

    /// The same for one who must go on: what is not understood is as if it were not there.
    pub fn of(settings: Option<&Map>) -> Self {
        Self::read(settings).unwrap_or_default()
    }
}
