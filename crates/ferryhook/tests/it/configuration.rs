use std::fs;

use crate::ferry::{Ferry, run, show};

#[test]
fn check_shows_every_value_and_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ferryhook.toml"), "store = 'memory'").unwrap();
    let output = run(
        &folder,
        &["config", "check", "--data", "here"],
        &[("FERRYHOOK_LOG", "debug"), ("FERRYHOOK_TEST_ANY", "x")],
    );
    insta::assert_snapshot!(show(&output), @r"
    exit 0
    listen                       127.0.0.1:8080               default
    data                         here                         --data
    store                        memory                       ferryhook.toml
    masterKey                    -                            default
    masterKeyFile                -                            default
    log                          debug                        FERRYHOOK_LOG
    shutdownDelaySeconds         0                            default
    publicUrl                    -                            default
    ingest.trustedProxies        -                            default
    ingest.bodySeconds           30                           default
    api.requestsPerMinute        100                          default
    metrics.token                -                            default
    destinations.allow           -                            default
    destinations.caFile          -                            default
    dynamo.endpoint              -                            default
    dynamo.region                -                            default
    dynamo.tablePrefix           ferryhook-                   default
    dynamo.ledgerTable           QuillIdempotencyLedger       default
    dynamo.ttlDays               14                           default
    stream.keptHours             24                           default
    signup                       invite                       default
    mail.smtpUrl                 -                            default
    mail.from                    -                            default
    github.clientId              -                            default
    github.clientSecret          -                            default
    github.url                   https://github.com           default
    github.apiUrl                https://api.github.com       default
    google.clientId              -                            default
    google.clientSecret          -                            default
    google.issuer                https://accounts.google.com  default
    billing.stripe.apiKey        -                            default
    billing.stripe.webhookSecret -                            default
    billing.stripe.baseUrl       https://api.stripe.com       default
    billing.returnUrls           -                            default
    ");
}

#[test]
fn an_unknown_key_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ferryhook.toml"), "lisen = '127.0.0.1:1'").unwrap();
    insta::assert_snapshot!(show(&run(&folder, &["serve"], &[])), @r#"
    exit 1
    ferryhook: unknown setting "lisen" in ferryhook.toml
    "#);
}

#[test]
fn an_unknown_variable_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["serve"], &[("FERRYHOOK_LISTN", "127.0.0.1:1")]);
    insta::assert_snapshot!(show(&output), @r"
    exit 1
    ferryhook: unknown setting FERRYHOOK_LISTN in the environment
    ");
}

#[test]
fn an_unknown_flag_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["serve", "--lisen", "x"], &[]);
    assert_eq!(output.status.code(), Some(2));
}

/// Before anything is opened, and in `config check` too.
#[test]
fn authorities_that_cannot_be_read_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), "hello").unwrap();
    for (arguments, file) in [(["serve"].as_slice(), "ca.pem"), (&["config", "check"], "none.pem")]
    {
        let output = run(&folder, arguments, &[("FERRYHOOK_DESTINATION_CA_FILE", file)]);
        let said = show(&output);
        assert!(said.starts_with("exit 1\n"), "{said}");
        assert!(said.contains(&format!("cannot use destinations.caFile {file}")), "{said}");
    }
    assert!(!folder.path().join("ferryhook-data").exists());
}

/// Whoever reads the log should know that deliveries may go inside.
#[test]
fn allowed_networks_are_logged() {
    let mut ferry = Ferry::start_with(&[("FERRYHOOK_DESTINATION_ALLOW", "10.0.0.0/8,::1")]);
    ferry.wait_for_log("10.0.0.0/8, ::1/128");
}

/// The second server says which port is taken, and which setting asked for it.
#[test]
fn a_busy_port_is_named() {
    let first = Ferry::start();
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["serve"], &[("FERRYHOOK_LISTEN", &first.address)]);
    let port = first.address.rsplit(':').next().unwrap();
    insta::assert_snapshot!(show(&output).replace(port, "PORT"), @r"
    exit 1
    ferryhook: port PORT is busy: something else listens on 127.0.0.1:PORT (setting listen, from FERRYHOOK_LISTEN); choose another with --listen or FERRYHOOK_LISTEN
    ");
    assert_eq!(first.get("/healthz").status, 200, "the first goes on");
}

#[test]
fn the_greeting_names_the_data_directory() {
    let ferry = Ferry::start();
    assert!(ferry.greeting.contains("./ferryhook-data"), "{}", ferry.greeting);
}
