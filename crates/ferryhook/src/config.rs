//! Configuration: read once, checked once, typed from then on.
//!
//! A setting is one row in `settings.rs`; from it come the flag, the variable, the key in
//! `ferryhook.toml` and the default, in this order of precedence (`values.rs`). What nobody
//! knows is an error, because a misspelt setting that is ignored costs an evening.

mod billing;
mod settings;
mod sign_in;
mod values;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ferryhook_api::limiter::Rates;
use ferryhook_core::Secret;
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

use crate::master;

pub use settings::NEW_MASTER_KEY_VARIABLE;
pub use settings::{DataScope, Flags, FlagsOf, StoreScope, TablesScope};
pub use sign_in::SignIn;
pub use values::{ConfigError, Origin, Values};

const SHUTDOWN_DELAY_SECONDS_MAX: u64 = 300;
const BODY_SECONDS_MAX: u64 = 300;
const TTL_DAYS_MAX: u32 = 3650;
const CHANGES_KEPT_HOURS_MAX: u64 = 720;
const REQUESTS_PER_MINUTE_MAX: u64 = 1_000_000;
/// Too short to be guessed at.
const METRICS_TOKEN_BYTES_MIN: usize = 16;
/// A page that somebody opens asks for several things at once.
const PERSONS_RATE: u64 = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub listen: SocketAddr,
    pub data: PathBuf,
    pub store: StoreKind,
    /// A filter of `tracing`: `info`, or `info,ferryhook_net=debug`.
    pub log: String,
    pub shutdown_delay: Duration,
    /// Where senders reach this server, if not at the name they call it by.
    pub public_url: Option<PublicUrl>,
    pub ingest: Ingest,
    /// How often callers of the API may ask.
    pub api_rates: Rates,
    /// Shown by whoever may see the metrics.
    pub metrics_token: Option<Secret>,
    /// Networks that may be delivered to although they are not public.
    pub destinations_allow: Networks,
    /// Authorities whose certificates are believed beside the public ones.
    pub destinations_ca_file: Option<PathBuf>,
    pub dynamo: Dynamo,
    /// How long an embedded store keeps what the stream tells.
    pub changes_kept: Duration,
    pub sign_in: SignIn,
    pub billing: ferryhook_api::billing::Settings,
    pub master_key: MasterKeySetting,
}

/// Where the key comes from that the keys of secrets are wrapped with.
#[derive(Debug, Clone, PartialEq)]
pub enum MasterKeySetting {
    /// Nobody says. The store has one of its own if it can.
    Own,
    Text(Secret),
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ingest {
    pub trusted_proxies: Networks,
    /// For a whole body, however it drips.
    pub body_within: Duration,
}

/// Scheme, host and perhaps the path a proxy puts in front, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(pub String);

/// Written one behind the other, with commas.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Networks(pub Vec<IpNet>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    Embedded,
    Dynamodb,
    Memory,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dynamo {
    /// Another server than Amazon's.
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub table_prefix: String,
    pub ledger_table: String,
    pub ttl_days: u32,
}

fn api_rates(values: &Values) -> Result<Rates, ConfigError> {
    let key = "api.requestsPerMinute";
    let expected = "a number from 0 to 1000000";
    let each: u64 = values.parse_within(key, 0..=REQUESTS_PER_MINUTE_MAX, expected)?;
    let rate = |times: u64| (each > 0).then_some(each * times);
    Ok(Rates { of_key: rate(1), of_person: rate(PERSONS_RATE) })
}

impl Config {
    /// From this process's flags, environment and working directory.
    pub fn load(flags: &Flags) -> Result<(Self, Values), ConfigError> {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        let values = Values::gather(flags, &environment.collect())?;
        Ok((Self::parse(&values)?, values))
    }

    /// Where people reach this server, without a slash at the end.
    pub fn base_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.0.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// Where this machine reaches it, whoever else may.
    pub fn local_url(&self) -> String {
        let ip = match self.listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, self.listen.port()))
    }

    /// Where the data is, for people.
    pub fn place(&self) -> String {
        match self.store {
            StoreKind::Embedded => self.data.display().to_string(),
            StoreKind::Dynamodb => format!("tables {}*", self.dynamo.table_prefix),
            StoreKind::Memory => "NOT KEPT".to_owned(),
        }
    }

    fn parse(values: &Values) -> Result<Self, ConfigError> {
        Ok(Self {
            master_key: master_key(values)?,
            listen: values.parse("listen", "an address such as 127.0.0.1:8080")?,
            data: values.parse("data", "a directory")?,
            store: values.parse("store", "one of embedded, dynamodb, memory")?,
            log: values
                .parse::<EnvFilter>("log", "a log filter such as info,ferryhook_net=debug")?
                .to_string(),
            shutdown_delay: Duration::from_secs(values.parse_within(
                "shutdownDelaySeconds",
                0..=SHUTDOWN_DELAY_SECONDS_MAX,
                "a number of seconds from 0 to 300",
            )?),
            public_url: match values.get("publicUrl") {
                Some(_) => {
                    Some(values.parse("publicUrl", "a URL such as https://hooks.example.com")?)
                }
                None => None,
            },
            ingest: Ingest {
                trusted_proxies: values.parse(
                    "ingest.trustedProxies",
                    "a list of networks such as 10.0.0.0/8,::1/128",
                )?,
                body_within: Duration::from_secs(values.parse_within(
                    "ingest.bodySeconds",
                    1..=BODY_SECONDS_MAX,
                    "a number of seconds from 1 to 300",
                )?),
            },
            api_rates: api_rates(values)?,
            metrics_token: metrics_token(values)?,
            destinations_allow: values
                .parse("destinations.allow", "a list of networks such as 10.0.0.0/8,fd00::/8")?,
            destinations_ca_file: values.get("destinations.caFile").map(PathBuf::from),
            dynamo: Dynamo {
                endpoint: values.get("dynamo.endpoint").map(str::to_owned),
                region: values.get("dynamo.region").map(str::to_owned),
                table_prefix: values.parse("dynamo.tablePrefix", "a name")?,
                ledger_table: values.parse("dynamo.ledgerTable", "a name")?,
                ttl_days: values.parse_within(
                    "dynamo.ttlDays",
                    1..=TTL_DAYS_MAX,
                    "a number of days from 1 to 3650",
                )?,
            },
            changes_kept: Duration::from_secs(
                3600 * values.parse_within(
                    "stream.keptHours",
                    0..=CHANGES_KEPT_HOURS_MAX,
                    "a number of hours from 0 to 720",
                )?,
            ),
            sign_in: SignIn::parse(values)?,
            billing: billing::parse(values)?,
        })
    }
}

fn metrics_token(values: &Values) -> Result<Option<Secret>, ConfigError> {
    const KEY: &str = "metrics.token";
    let Some(token) = values.get(KEY) else { return Ok(None) };
    let is_plain = token.chars().all(|c| c.is_ascii_graphic());
    match is_plain && token.len() >= METRICS_TOKEN_BYTES_MIN {
        true => Ok(Some(Secret::new(token))),
        false => Err(values.bad(KEY, "16 or more letters, digits and signs, without spaces")),
    }
}

fn master_key(values: &Values) -> Result<MasterKeySetting, ConfigError> {
    const TEXT: &str = "masterKey";
    const FILE: &str = "masterKeyFile";
    match (values.get(TEXT), values.get(FILE)) {
        (None, None) => Ok(MasterKeySetting::Own),
        (None, Some(file)) => Ok(MasterKeySetting::File(file.into())),
        (Some(_), Some(_)) => Err(ConfigError::Both { one: TEXT, other: FILE }),
        (Some(text), None) => match master::parse(text) {
            Ok(_) => Ok(MasterKeySetting::Text(Secret::new(text))),
            Err(_) => Err(values.bad(TEXT, "32 bytes in base64 (`openssl rand -base64 32`)")),
        },
    }
}

impl FromStr for PublicUrl {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let url = text.trim_end_matches('/');
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@');
        match host.filter(|host| !host.is_empty() && host.chars().all(is_plain)) {
            Some(_) => Ok(Self(url.to_owned())),
            None => Err(()),
        }
    }
}

/// Nothing is no network. A bare address is a network of one.
impl FromStr for Networks {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let network = |text: &str| match text.parse::<IpAddr>() {
            Ok(address) => Ok(address.into()),
            Err(_) => text.parse::<IpNet>().map_err(drop),
        };
        let written = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        written.map(network).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks: Vec<_> = self.0.iter().map(IpNet::to_string).collect();
        f.write_str(&networks.join(", "))
    }
}

impl FromStr for StoreKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "embedded" => Ok(Self::Embedded),
            "dynamodb" => Ok(Self::Dynamodb),
            "memory" => Ok(Self::Memory),
            _ => Err(()),
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedded => "embedded",
            Self::Dynamodb => "dynamodb",
            Self::Memory => "memory",
        })
    }
}

#[cfg(test)]
mod tests;
