//! Every setting, one row each. A new row is a new flag, variable and key at once; a test asks
//! that `docs/operating.md` has it too.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

#[derive(Debug)]
pub struct Setting {
    /// In `ferryhook.toml`; a dot stands for a table.
    pub key: &'static str,
    pub variable: &'static str,
    pub flag: &'static str,
    pub default: Option<&'static str>,
    pub help: &'static str,
}

pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "listen",
        variable: "FERRYHOOK_LISTEN",
        flag: "listen",
        default: Some("127.0.0.1:8080"),
        help: "Address and port to listen on; port 0 takes a free one",
    },
    Setting {
        key: "data",
        variable: "FERRYHOOK_DATA",
        flag: "data",
        default: Some("./ferryhook-data"),
        help: "Directory of the embedded store",
    },
    Setting {
        key: "store",
        variable: "FERRYHOOK_STORE",
        flag: "store",
        default: Some("embedded"),
        help: "Where records are kept: embedded, dynamodb or memory",
    },
    Setting {
        key: "masterKey",
        variable: "FERRYHOOK_MASTER_KEY",
        flag: "master-key",
        default: None,
        help: "32 bytes in base64 that the keys of secrets are wrapped with; former ones may follow, \
               with commas between them",
    },
    Setting {
        key: "masterKeyFile",
        variable: "FERRYHOOK_MASTER_KEY_FILE",
        flag: "master-key-file",
        default: None,
        help: "File that has the master key",
    },
    Setting {
        key: "log",
        variable: "FERRYHOOK_LOG",
        flag: "log",
        default: Some("info,lsm_tree=warn"),
        help: "What to log, for example info,ferryhook_net=debug",
    },
    Setting {
        key: "shutdownDelaySeconds",
        variable: "FERRYHOOK_SHUTDOWN_DELAY_SECONDS",
        flag: "shutdown-delay-seconds",
        default: Some("0"),
        help: "How long to go on accepting, no longer ready, after the signal to stop",
    },
    Setting {
        key: "publicUrl",
        variable: "FERRYHOOK_PUBLIC_URL",
        flag: "public-url",
        default: None,
        help: "Where senders reach this server, for example https://hooks.example.com; some \
               providers sign it",
    },
    Setting {
        key: "ingest.trustedProxies",
        variable: "FERRYHOOK_TRUSTED_PROXIES",
        flag: "ingest-trusted-proxies",
        default: None,
        help: "Networks of proxies whose X-Forwarded-For counts, for example 10.0.0.0/8,::1/128",
    },
    Setting {
        key: "ingest.bodySeconds",
        variable: "FERRYHOOK_INGEST_BODY_SECONDS",
        flag: "ingest-body-seconds",
        default: Some("30"),
        help: "How long a sender may take for the body of an event",
    },
    Setting {
        key: "api.requestsPerMinute",
        variable: "FERRYHOOK_API_REQUESTS_PER_MINUTE",
        flag: "api-requests-per-minute",
        default: Some("100"),
        help: "How often each API key may ask; people who have signed in may five times as often. \
               0 means as often as they like",
    },
    Setting {
        key: "metrics.token",
        variable: "FERRYHOOK_METRICS_TOKEN",
        flag: "metrics-token",
        default: None,
        help: "What whoever reads /metrics sends as Authorization: Bearer; without it nobody does",
    },
    Setting {
        key: "destinations.allow",
        variable: "FERRYHOOK_DESTINATION_ALLOW",
        flag: "destination-allow",
        default: None,
        help: "Networks that may be delivered to although they are not public, for example \
               10.0.0.0/8,fd00::/8",
    },
    Setting {
        key: "destinations.caFile",
        variable: "FERRYHOOK_DESTINATION_CA_FILE",
        flag: "destination-ca-file",
        default: None,
        help: "File with certificates (PEM) of authorities of your own, trusted beside the public \
               ones",
    },
    Setting {
        key: "dynamo.endpoint",
        variable: "DYNAMO_ENDPOINT",
        flag: "dynamo-endpoint",
        default: None,
        help: "URL of a DynamoDB server other than Amazon's",
    },
    Setting {
        key: "dynamo.region",
        variable: "DYNAMO_REGION",
        flag: "dynamo-region",
        default: None,
        help: "AWS region; the AWS SDK's own settings count when it is not set",
    },
    Setting {
        key: "dynamo.tablePrefix",
        variable: "DYNAMO_TABLE_PREFIX",
        flag: "dynamo-table-prefix",
        default: Some("ferryhook-"),
        help: "Start of the name of every table but the ledger",
    },
    Setting {
        key: "dynamo.ledgerTable",
        variable: "DYNAMO_TABLE_NAME",
        flag: "dynamo-ledger-table",
        default: Some("QuillIdempotencyLedger"),
        help: "Name of the ledger's table",
    },
    Setting {
        key: "dynamo.ttlDays",
        variable: "DYNAMO_TTL_DAYS",
        flag: "dynamo-ttl-days",
        default: Some("14"),
        help: "How many days the ledger remembers an event",
    },
    Setting {
        key: "stream.keptHours",
        variable: "FERRYHOOK_STREAM_KEPT_HOURS",
        flag: "stream-kept-hours",
        default: Some("24"),
        help: "How many hours the embedded store keeps changes for /v1/stream; 0 turns it off",
    },
    Setting {
        key: "signup",
        variable: "FERRYHOOK_SIGNUP",
        flag: "signup",
        default: Some("invite"),
        help: "Who may make an account: open, invite or off; ferryhook dev is open unless this is set",
    },
    Setting {
        key: "mail.smtpUrl",
        variable: "SMTP_URL",
        flag: "mail-smtp-url",
        default: None,
        help: "Mail server, for example smtps://user:password@mail.example.com",
    },
    Setting {
        key: "mail.from",
        variable: "MAIL_FROM",
        flag: "mail-from",
        default: None,
        help: "Whom letters come from, for example Ferryhook <ferryhook@example.com>",
    },
    Setting {
        key: "github.clientId",
        variable: "GITHUB_CLIENT_ID",
        flag: "github-client-id",
        default: None,
        help: "Lets people sign in with GitHub: the id of the OAuth app",
    },
    Setting {
        key: "github.clientSecret",
        variable: "GITHUB_CLIENT_SECRET",
        flag: "github-client-secret",
        default: None,
        help: "The secret of that app",
    },
    Setting {
        key: "github.url",
        variable: "GITHUB_URL",
        flag: "github-url",
        default: Some("https://github.com"),
        help: "Another installation of GitHub",
    },
    Setting {
        key: "github.apiUrl",
        variable: "GITHUB_API_URL",
        flag: "github-api-url",
        default: Some("https://api.github.com"),
        help: "Where its API is",
    },
    Setting {
        key: "google.clientId",
        variable: "GOOGLE_CLIENT_ID",
        flag: "google-client-id",
        default: None,
        help: "Lets people sign in with Google: the id of the OAuth client",
    },
    Setting {
        key: "google.clientSecret",
        variable: "GOOGLE_CLIENT_SECRET",
        flag: "google-client-secret",
        default: None,
        help: "The secret of that client",
    },
    Setting {
        key: "google.issuer",
        variable: "GOOGLE_ISSUER",
        flag: "google-issuer",
        default: Some("https://accounts.google.com"),
        help: "Another provider of OpenID Connect",
    },
    Setting {
        key: "billing.stripe.apiKey",
        variable: "STRIPE_API_KEY",
        flag: "billing-stripe-api-key",
        default: None,
        help: "Lets plans be bought through Stripe: the secret key of the account there",
    },
    Setting {
        key: "billing.stripe.webhookSecret",
        variable: "STRIPE_WEBHOOK_SECRET",
        flag: "billing-stripe-webhook-secret",
        default: None,
        help: "What Stripe signs its messages to /webhooks/stripe with; a former one may follow, \
               with a comma between them",
    },
    Setting {
        key: "billing.stripe.baseUrl",
        variable: "STRIPE_BASE_URL",
        flag: "billing-stripe-base-url",
        default: Some("https://api.stripe.com"),
        help: "Where Stripe is called",
    },
    Setting {
        key: "billing.returnUrls",
        variable: "FERRYHOOK_BILLING_RETURN_URLS",
        flag: "billing-return-urls",
        default: None,
        help: "Where people may come back to from Stripe, beside this server, for example \
               https://app.example.com; several with commas",
    },
];

/// Settings that nobody may see: they have no flag, because others see those of a process, and
/// are never printed.
pub const SECRETS: &[&str] = &[
    "masterKey",
    "metrics.token",
    "mail.smtpUrl",
    "github.clientSecret",
    "google.clientSecret",
    "billing.stripe.apiKey",
    "billing.stripe.webhookSecret",
];

/// For `keys rotate-master` only.
pub const NEW_MASTER_KEY_VARIABLE: &str = "FERRYHOOK_NEW_MASTER_KEY";

/// Names the file to read; it cannot stand in that file itself.
pub const CONFIG_VARIABLE: &str = "FERRYHOOK_CONFIG";
const CONFIG_FLAG: &str = "config";

/// What was given on the command line.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub config: Option<String>,
    /// By key.
    pub settings: BTreeMap<&'static str, String>,
}

/// The flags of a command that needs only some settings. The others still count where they come
/// from the environment or the file, so that every command sees the same configuration.
#[derive(Debug, Clone)]
pub struct FlagsOf<S>(pub Flags, PhantomData<S>);

pub trait Scope {
    const KEYS: &'static [&'static str];
}

/// Where the embedded store is.
#[derive(Debug, Clone)]
pub enum DataScope {}

impl Scope for DataScope {
    const KEYS: &'static [&'static str] = &["data"];
}

/// Where sources and connections are kept, and where those may lead.
#[derive(Debug, Clone)]
pub enum StoreScope {}

impl Scope for StoreScope {
    const KEYS: &'static [&'static str] = &[
        "data",
        "store",
        "masterKeyFile",
        "destinations.allow",
        "dynamo.endpoint",
        "dynamo.region",
        "dynamo.tablePrefix",
        "dynamo.ledgerTable",
    ];
}

/// Where the tables are, and what they are called.
#[derive(Debug, Clone)]
pub enum TablesScope {}

impl Scope for TablesScope {
    const KEYS: &'static [&'static str] =
        &["dynamo.endpoint", "dynamo.region", "dynamo.tablePrefix", "dynamo.ledgerTable"];
}

// By hand and not derived, so that a setting is written down once.
impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        augment(command, |_| true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Scope> Args for FlagsOf<S> {
    fn augment_args(command: Command) -> Command {
        augment(command, |key| S::KEYS.contains(&key))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn augment(command: Command, wanted: impl Fn(&str) -> bool) -> Command {
    let config = Arg::new(CONFIG_FLAG).long(CONFIG_FLAG).value_name("FILE").help(format!(
        "Configuration file [env: {CONFIG_VARIABLE}] [default: ferryhook.toml, if it exists]"
    ));
    let wanted = SETTINGS.iter().filter(|setting| wanted(setting.key) && !is_secret(setting.key));
    command.arg(config).args(wanted.map(|setting| {
        let default = setting.default.map(|value| format!(" [default: {value}]"));
        Arg::new(setting.key).long(setting.flag).value_name("VALUE").help(format!(
            "{} [env: {}]{}",
            setting.help,
            setting.variable,
            default.unwrap_or_default()
        ))
    }))
}

pub fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key)
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.config = matches.get_one::<String>(CONFIG_FLAG).cloned();
        for Setting { key, .. } in SETTINGS {
            // An error means that the command does not have this flag.
            if let Ok(Some(value)) = matches.try_get_one::<String>(key) {
                self.settings.insert(key, value.clone());
            }
        }
        Ok(())
    }
}

impl<S: Scope> FromArgMatches for FlagsOf<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(Flags::from_arg_matches(matches)?, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}
