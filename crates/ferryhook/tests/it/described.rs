//! The description of the API, as public tools understand it.
//!
//! They come with the servers that `scripts/with-servers` starts; without it these tests say so
//! and pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::client::{Client, told};
use crate::ferry::Ferry;

/// Operations that would end the run: they take away what it calls with. Or would never end it.
const LEFT_OUT: [&str; 5] = [
    "accounts.terminate",
    "apiKeys.revoke",
    "members.remove",
    "accounts.suspend",
    "cliSessions.stream",
];

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

/// A program that was installed beside the Python of the tests.
fn tool(name: &str) -> Option<PathBuf> {
    let Ok(python) = std::env::var("FERRYHOOK_TEST_PYTHON") else {
        println!("{name}: FERRYHOOK_TEST_PYTHON is not set; run this with scripts/with-servers");
        return None;
    };
    Path::new(&python).parent().map(|folder| folder.join(name))
}

fn server(folder: &Path) -> Ferry {
    let variables = [
        ("FERRYHOOK_SIGNUP", "open"),
        ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
        ("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"),
    ];
    Ferry::start_in(folder, &variables)
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, complained) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    output
}

/// Whatever the description allows is answered as the description says.
#[test]
fn no_call_that_is_described_is_answered_otherwise() {
    let Some(tool) = tool("st") else { return };
    let folder = tempfile::tempdir().unwrap();
    let ferry = server(folder.path());
    let stranger = Client::of(&ferry, "");
    let who = json!({"email": "one@example.com", "password": "correct horse battery"});
    let entered = told(&stranger.post("/v1/auth/signup", who), 201);
    let person = stranger.with(entered["accessToken"].as_str().unwrap());
    let key = json!({"name": "described", "permissions": "admin"});
    let key = told(&person.post("/v1/api-keys", key), 201);
    let client = stranger.with(key["key"].as_str().unwrap());
    // Something to find, so that not every answer is that there is nothing.
    let source = told(&client.post("/v1/sources", json!({"name": "shop"})), 201);
    let source = source["sourceId"].as_str().unwrap();
    let there = json!({"name": "there", "destinationUrl": "http://127.0.0.1:9/"});
    let connection = told(&client.post(&format!("/v1/sources/{source}/connections"), there), 201);
    let event = told(&ferry.post(&format!("/in/{source}"), b"{\"order\":7}"), 200);
    let events = json!({"eventIds": [event["id"]]});
    let replay = told(&client.post("/v1/events/replay", events), 202);
    let settings = format!(
        "[parameters]\n\"path.sourceId\" = \"{source}\"\n\"path.connectionId\" = {}\n\
         \"path.eventId\" = {}\n\"path.replayId\" = {}\n\"path.accountId\" = {}\n\
         \"header.X-Ferryhook-Account\" = {}\n",
        connection["connectionId"],
        event["id"],
        replay["replayId"],
        key["accountId"],
        key["accountId"],
    );
    std::fs::write(folder.path().join("schemathesis.toml"), settings).unwrap();
    let mut command = Command::new(tool);
    command.current_dir(&folder).arg("run");
    command.arg(format!("http://{}/openapi.json", ferry.address));
    command.arg("-H").arg(format!("Authorization: Bearer {}", client.credential));
    command.args(["--checks", CHECKS, "--phases", "coverage,fuzzing", "--max-examples", "5"]);
    command.args(["--generation-deterministic", "--suppress-health-check", "all", "--no-color"]);
    command.args(["--exclude-path-regex", "^/v1/auth/"]);
    for operation in LEFT_OUT {
        command.args(["--exclude-operation-id", operation]);
    }
    run(&mut command);
    // The key has survived it: the calls were more than refusals.
    told(&client.get("/v1/whoami"), 200);
}

/// What a generator makes of the description is a client that works.
#[test]
fn a_generated_client_makes_the_journey() {
    let Some(generator) = tool("openapi-python-client") else { return };
    let folder = tempfile::tempdir().unwrap();
    let ferry = server(folder.path());
    let document = folder.path().join("openapi.json");
    std::fs::write(&document, ferry.get("/openapi.json").body).unwrap();
    let config = folder.path().join("generator.yml");
    std::fs::write(&config, "post_hooks: []\n").unwrap();
    let package = folder.path().join("ferryhook_client");
    let mut generate = Command::new(generator);
    generate.arg("generate").arg("--path").arg(&document).arg("--config").arg(&config);
    run(generate.args(["--meta", "none", "--output-path"]).arg(&package));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/journey.py");
    let python = std::env::var("FERRYHOOK_TEST_PYTHON").unwrap();
    let server = format!("http://{}", ferry.address);
    let output = run(Command::new(python).arg(script).arg(folder.path()).arg(server));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "arrived\n");
}
