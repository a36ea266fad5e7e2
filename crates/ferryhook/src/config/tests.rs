use std::collections::BTreeMap;

use clap::{Args, Command, FromArgMatches};

use super::settings::SETTINGS;
use super::{Config, Flags, Values};

/// What `serve` would make of this file, these variables and these flags.
fn load(
    file: &str,
    variables: &[(&str, &str)],
    flags: &[&str],
) -> Result<(Config, Values), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ferryhook.toml");
    std::fs::write(&path, file).unwrap();
    let path = path.to_str().unwrap();

    let matches = Flags::augment_args(Command::new("ferryhook").no_binary_name(true))
        .try_get_matches_from(flags)
        .unwrap();
    let flags = Flags::from_arg_matches(&matches).unwrap();
    let mut environment: BTreeMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    environment.insert("FERRYHOOK_CONFIG".into(), path.into());

    Values::gather(&flags, &environment)
        .and_then(|values| Ok((Config::parse(&values)?, values)))
        .map_err(|error| error.to_string().replace(path, "ferryhook.toml"))
}

fn complaint(file: &str, variables: &[(&str, &str)]) -> String {
    load(file, variables, &[]).unwrap_err()
}

#[test]
fn nothing_given_is_enough() {
    insta::assert_debug_snapshot!(load("", &[], &[]).unwrap().0, @r#"
    Config {
        listen: 127.0.0.1:8080,
        data: "./ferryhook-data",
        store: Embedded,
        log: "lsm_tree=warn,info",
        shutdown_delay: 0ns,
        public_url: None,
        ingest: Ingest {
            trusted_proxies: Networks(
                [],
            ),
            body_within: 30s,
        },
        api_rates: Rates {
            of_key: Some(
                100,
            ),
            of_person: Some(
                500,
            ),
        },
        metrics_token: None,
        destinations_allow: Networks(
            [],
        ),
        destinations_ca_file: None,
        dynamo: Dynamo {
            endpoint: None,
            region: None,
            table_prefix: "ferryhook-",
            ledger_table: "QuillIdempotencyLedger",
            ttl_days: 14,
        },
        changes_kept: 86400s,
        sign_in: SignIn {
            signup: Invite,
            mail: None,
            github: None,
            google: None,
        },
        billing: Settings {
            stripe: None,
            return_urls: [],
        },
        master_key: Own,
    }
    "#);
}

/// Flags over variables over the file over the defaults.
#[test]
fn the_nearest_layer_wins() {
    let file = "
        listen = '127.0.0.1:1'
        data = 'from-file'
        log = 'warn'
        [dynamo]
        ttlDays = 3
    ";
    let variables =
        [("FERRYHOOK_LISTEN", "127.0.0.1:2"), ("FERRYHOOK_LOG", "debug"), ("FERRYHOOK_DATA", "")];
    let (_, values) = load(file, &variables, &["--log", "error"]).unwrap();
    let chosen = |key| (values.get(key).unwrap(), values.origin(key).to_string());
    assert_eq!(chosen("log"), ("error", "--log".into()));
    assert_eq!(chosen("listen"), ("127.0.0.1:2", "FERRYHOOK_LISTEN".into()));
    assert_eq!(chosen("data").0, "from-file", "an empty variable is none");
    assert_eq!(chosen("dynamo.ttlDays").0, "3");
    assert_eq!(chosen("store"), ("embedded", "default".into()));
}

/// Each complaint names the setting and the place.
#[test]
fn mistakes_are_named() {
    let complaints = [
        complaint("lisen = '127.0.0.1:1'", &[]),
        complaint("[dynamo]\ntableprefix = 'x'", &[]),
        complaint("[dinamo]", &[]),
        complaint("data = ['a', 'b']", &[]),
        complaint("store = 'sqlite'", &[]),
        complaint("", &[("FERRYHOOK_LISTN", "x")]),
        complaint("", &[("FERRYHOOK_LISTEN", "8080")]),
        complaint("", &[("FERRYHOOK_LOG", "ferryhook=loud")]),
        complaint("", &[("FERRYHOOK_TRUSTED_PROXIES", "10.0.0.0/8,mine")]),
        complaint("", &[("DYNAMO_TTL_DAYS", "3651")]),
        complaint("", &[("FERRYHOOK_DESTINATION_ALLOW", "10.0.0.0/8,localhost")]),
        complaint("listen", &[]),
    ];
    insta::assert_snapshot!(complaints.join("\n"), @r#"
    unknown setting "lisen" in ferryhook.toml
    unknown setting "dynamo.tableprefix" in ferryhook.toml
    unknown setting "dinamo" in ferryhook.toml
    data in ferryhook.toml must be text or a number
    store must be one of embedded, dynamodb, memory, not "sqlite" (from ferryhook.toml)
    unknown setting FERRYHOOK_LISTN in the environment
    listen must be an address such as 127.0.0.1:8080, not "8080" (from FERRYHOOK_LISTEN)
    log must be a log filter such as info,ferryhook_net=debug, not "ferryhook=loud" (from FERRYHOOK_LOG)
    ingest.trustedProxies must be a list of networks such as 10.0.0.0/8,::1/128, not "10.0.0.0/8,mine" (from FERRYHOOK_TRUSTED_PROXIES)
    dynamo.ttlDays must be a number of days from 1 to 3650, not "3651" (from DYNAMO_TTL_DAYS)
    destinations.allow must be a list of networks such as 10.0.0.0/8,fd00::/8, not "10.0.0.0/8,localhost" (from FERRYHOOK_DESTINATION_ALLOW)
    cannot read the configuration file ferryhook.toml: TOML parse error at line 1, column 7: key with no value, expected `=`
    "#);
}

/// What belongs together is given together, and no complaint shows a secret.
#[test]
fn signing_in_is_configured_whole_or_not_at_all() {
    let complaints = [
        complaint("signup = 'everybody'", &[]),
        complaint("", &[("SMTP_URL", "smtp://u:hush@mail")]),
        complaint("[github]\nclientId = 'x'", &[]),
        complaint("[google]\nclientSecret = 'hush'\nclientId = 'x'\nissuer = 'google'", &[]),
    ];
    insta::assert_snapshot!(complaints.join("\n"), @r#"
    signup must be one of open, invite, off, not "everybody" (from ferryhook.toml)
    mail.from must be an address when mail.smtpUrl is set
    github.clientSecret must be the secret that github.clientId comes with
    google.issuer must be a URL such as https://git.example.com, not "google" (from ferryhook.toml)
    "#);
    let variables = [("SMTP_URL", "smtp://u:hush@mail"), ("MAIL_FROM", "a@b.c")];
    let (config, values) = load("", &variables, &[]).unwrap();
    assert_eq!(config.sign_in.mail.as_ref().unwrap().from, "a@b.c");
    let shown: Vec<_> = values.rows().filter_map(|(_, value, _)| value).collect();
    assert!(!format!("{config:?} {shown:?}").contains("hush"));
}

/// A key without the secret would sell what nobody gets; neither is ever shown.
#[test]
fn billing_is_configured_whole_or_not_at_all() {
    let complaints = [
        complaint("", &[("STRIPE_API_KEY", "sk_hush")]),
        complaint("", &[("STRIPE_WEBHOOK_SECRET", "whsec_hush")]),
        complaint("", &[("STRIPE_API_KEY", "sk hush"), ("STRIPE_WEBHOOK_SECRET", "whsec_hush")]),
        complaint("[billing]\nreturnUrls = 'app'", &[]),
        complaint("[billing.stripe]\nbaseUrl = 'stripe'", &[]),
    ];
    insta::assert_snapshot!(complaints.join("\n"), @r#"
    billing.stripe.webhookSecret must be what Stripe signs with when billing.stripe.apiKey is set
    billing.stripe.apiKey must be the key that billing.stripe.webhookSecret belongs to
    billing.stripe.apiKey must be a key such as sk_live_... (from STRIPE_API_KEY); what it is instead is not shown
    billing.returnUrls must be a list of URLs such as https://app.example.com, not "app" (from ferryhook.toml)
    billing.stripe.baseUrl must be a URL such as https://api.stripe.com, not "stripe" (from ferryhook.toml)
    "#);
    let file = "[billing]\nreturnUrls = 'https://a.example, https://b.example/'\n[billing.stripe]\n\
                apiKey = 'sk_hush'\nwebhookSecret = 'whsec_hush1, whsec_hush2'";
    let (config, values) = load(file, &[], &[]).unwrap();
    assert_eq!(config.billing.return_urls, ["https://a.example", "https://b.example"]);
    assert_eq!(config.billing.stripe.as_ref().unwrap().webhook_secrets.len(), 2);
    let shown: Vec<_> = values.rows().filter_map(|(_, value, _)| value).collect();
    assert!(!format!("{config:?} {shown:?}").contains("hush"));
}

#[test]
fn networks_are_a_list() {
    let variables = [("FERRYHOOK_TRUSTED_PROXIES", " 10.0.0.0/8, ::1 ,192.0.2.7")];
    let (config, _) = load("", &variables, &[]).unwrap();
    let shown: Vec<_> = config.ingest.trusted_proxies.0.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["10.0.0.0/8", "::1/128", "192.0.2.7/32"]);
}

#[test]
fn the_public_url_is_where_in_begins() {
    let url = |text| {
        let loaded = load("", &[("FERRYHOOK_PUBLIC_URL", text)], &[]);
        loaded.ok().and_then(|(config, _)| config.public_url).map(|url| url.0)
    };
    assert_eq!(url("https://hooks.example.com/").as_deref(), Some("https://hooks.example.com"));
    assert_eq!(url("http://[::1]:8080/edge").as_deref(), Some("http://[::1]:8080/edge"));
    for bad in ["hooks.example.com", "ftp://a", "https://", "https://a b", "https://a?b=c"] {
        assert_eq!(url(bad), None, "{bad}");
    }
}

#[test]
fn variables_of_the_tests_are_left_alone() {
    assert!(load("", &[("FERRYHOOK_TEST_REDIS", "x")], &[]).is_ok());
}

#[test]
fn a_named_file_must_exist() {
    let flags = Flags { config: Some("no-such-file.toml".into()), ..Flags::default() };
    let error = Values::gather(&flags, &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("no-such-file.toml"), "{error}");
}

#[test]
fn every_setting_is_documented() {
    let page = include_str!("../../../../docs/operating.md");
    for setting in SETTINGS {
        let default = setting.default.map_or(String::new(), |value| format!("`{value}`"));
        let row = format!("| `{}` | `{}` | {default} |", setting.key, setting.variable);
        let row = row.replace("|  |", "| |");
        assert!(page.contains(&row), "docs/operating.md lacks {row}");
    }
}
