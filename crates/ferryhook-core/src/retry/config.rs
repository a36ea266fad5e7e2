//! Reads a policy from the JSON a customer wrote, and says what is wrong with it.
//!
//! Either a bare list of waits in seconds, `[0, 30, 120]`, or an object with `schedule`,
//! `jitterPercent` and `rules`, each of which may be left out. A rule is
//! `{"codes": "400-499", "then": "fail"}`; codes may also be one number or a class such as `5xx`.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Policy, Rule, Verdict};
use crate::limits;

#[derive(Debug, thiserror::Error)]
pub enum BadPolicy {
    #[error("a retry configuration has at most {max} bytes", max = limits::RETRY_CONFIG_BYTES_MAX)]
    TooLong,
    #[error("the retry configuration is not understood: {0}")]
    Shape(serde_json::Error),
    #[error("a retry configuration is a list of seconds or an object")]
    NeitherListNorObject,
    #[error("a retry schedule has 1 to {max} waits, not {0}", max = limits::ATTEMPTS_MAX)]
    Attempts(usize),
    #[error("a wait is at most {max} seconds, not {0}", max = limits::RETRY_DELAY_SECONDS_MAX)]
    Wait(u64),
    #[error("jitterPercent is 0 to {max}, not {0}", max = limits::JITTER_PERCENT_MAX)]
    Jitter(u8),
    #[error("a retry configuration has at most {max} rules, not {0}", max = limits::RETRY_RULES_MAX)]
    Rules(usize),
    #[error("{0} names no status codes; write 429, \"400-499\" or \"5xx\"")]
    Codes(Value),
    #[error("a rule for {0} would cover 2xx, which always means delivered")]
    Success(Value),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    schedule: Option<Vec<u64>>,
    jitter_percent: Option<u8>,
    #[serde(default)]
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenRule {
    codes: Value,
    then: Verdict,
}

impl Policy {
    /// From text, as a connection keeps it.
    pub fn parse(json: &str) -> Result<Self, BadPolicy> {
        if json.len() > limits::RETRY_CONFIG_BYTES_MAX {
            return Err(BadPolicy::TooLong);
        }
        Self::from_value(serde_json::from_str(json).map_err(BadPolicy::Shape)?)
    }

    /// From a value, as hooks and schedules keep it.
    pub fn from_value(json: Value) -> Result<Self, BadPolicy> {
        let written = match json {
            Value::Array(_) => {
                Written { schedule: Some(read(json)?), jitter_percent: None, rules: Vec::new() }
            }
            Value::Object(_) => read(json)?,
            _ => return Err(BadPolicy::NeitherListNorObject),
        };
        let mut policy = Self::default();
        if let Some(waits) = written.schedule {
            policy.schedule = schedule(&waits)?;
        }
        if let Some(percent) = written.jitter_percent {
            policy.jitter_percent = jitter_percent(percent)?;
        }
        policy.rules = rules(written.rules)?;
        Ok(policy)
    }
}

fn read<T: DeserializeOwned>(json: Value) -> Result<T, BadPolicy> {
    serde_json::from_value(json).map_err(BadPolicy::Shape)
}

fn schedule(waits: &[u64]) -> Result<Vec<Duration>, BadPolicy> {
    if waits.is_empty() || waits.len() > limits::ATTEMPTS_MAX {
        return Err(BadPolicy::Attempts(waits.len()));
    }
    match waits.iter().max() {
        Some(&longest) if longest > limits::RETRY_DELAY_SECONDS_MAX => {
            Err(BadPolicy::Wait(longest))
        }
        _ => Ok(waits.iter().copied().map(Duration::from_secs).collect()),
    }
}

fn jitter_percent(percent: u8) -> Result<u8, BadPolicy> {
    if percent > limits::JITTER_PERCENT_MAX {
        return Err(BadPolicy::Jitter(percent));
    }
    Ok(percent)
}

fn rules(written: Vec<WrittenRule>) -> Result<Vec<Rule>, BadPolicy> {
    if written.len() > limits::RETRY_RULES_MAX {
        return Err(BadPolicy::Rules(written.len()));
    }
    let rule = |WrittenRule { codes, then }| match status_codes(&codes) {
        None => Err(BadPolicy::Codes(codes)),
        Some(span) if *span.start() <= 299 && *span.end() >= 200 => Err(BadPolicy::Success(codes)),
        Some(codes) => Ok(Rule { codes, then }),
    };
    written.into_iter().map(rule).collect()
}

fn status_codes(written: &Value) -> Option<RangeInclusive<u16>> {
    let span = match written {
        Value::Number(code) => {
            let code = u16::try_from(code.as_u64()?).ok()?;
            code..=code
        }
        Value::String(text) => match (text.strip_suffix("xx"), text.split_once('-')) {
            (Some(class), _) => {
                let class: u16 = class.parse().ok().filter(|class| *class < 10)?;
                class * 100..=class * 100 + 99
            }
            (None, Some((from, to))) => from.trim().parse().ok()?..=to.trim().parse().ok()?,
            (None, None) => {
                let code = text.parse().ok()?;
                code..=code
            }
        },
        _ => return None,
    };
    (!span.is_empty() && *span.start() >= 100 && *span.end() <= 599).then_some(span)
}
