//! A server with sources and connections from a manifest, looked at from outside: `apply` sets it
//! up, `events show` says what became of an event.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ferry::{Ferry, run, show};

pub const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
pub const PAUSE: Duration = Duration::from_millis(50);

pub struct Stage {
    pub ferry: Ferry,
    folder: TempDir,
    /// Where events go, by the name of the source.
    paths: BTreeMap<String, String>,
}

impl Stage {
    /// May deliver to this machine.
    pub fn new() -> Self {
        Self::set_up(&[], &[])
    }

    /// The same with more variables, and with files where it runs.
    pub fn set_up(variables: &[(&str, &str)], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let allow = [("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")];
        let ferry = Ferry::start_in(&folder, &[&allow, variables].concat());
        Self { ferry, folder, paths: BTreeMap::new() }
    }

    pub fn with(sources: Vec<Value>) -> Self {
        let mut stage = Self::new();
        stage.apply(sources);
        stage
    }

    /// Exactly these sources from now on: others are deleted.
    pub fn apply(&mut self, sources: Vec<Value>) {
        let manifest = json!({ "sources": Value::Array(sources) }).to_string();
        fs::write(self.folder.path().join("hooks.yaml"), manifest).unwrap();
        let told = self.ask(&["apply", "-f", "hooks.yaml", "--prune", "--json"]);
        for change in told["changes"].as_array().unwrap() {
            if (&change["what"], &change["kind"]) == (&json!("created"), &json!("source")) {
                let (name, id) =
                    (change["source"].as_str().unwrap(), change["id"].as_str().unwrap());
                self.paths.insert(name.to_owned(), format!("/in/{id}"));
            }
        }
    }

    pub fn path(&self, source: &str) -> &str {
        &self.paths[source]
    }

    /// The event that it became.
    pub fn post(&self, source: &str, body: &str) -> String {
        let answer = self.ferry.post(self.path(source), body.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub fn command(&self, arguments: &[&str]) -> Output {
        run(&self.folder, arguments, &[])
    }

    /// Runs a command that answers in JSON.
    pub fn ask(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", show(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The same for one that may end with a bad word.
    pub fn run(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)))
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub fn export(&self) -> String {
        show(&run(&self.folder, &["export"], &[]))
    }

    pub fn event(&self, event: &str) -> Value {
        self.ask(&["events", "show", event, "--json"])
    }

    /// Looks at the event until it is as wanted.
    pub fn wait(&self, event: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let env = Env::system();
        let begun = env.elapsed();
        loop {
            let story = self.event(event);
            if wanted(&story) {
                return story;
            }
            assert!(env.elapsed() - begun < PATIENCE, "still not as wanted: {story:#}");
            std::thread::sleep(PAUSE);
        }
    }

    pub fn wait_until_settled(&self, event: &str) -> Value {
        self.wait(event, |story| {
            let deliveries = story["deliveries"].as_array().unwrap();
            !deliveries.is_empty() && deliveries.iter().all(|one| one["settledAt"].is_string())
        })
    }

    pub fn wait_for_attempts(&self, event: &str, count: usize) -> Value {
        self.wait(event, |story| story["attempts"].as_array().unwrap().len() >= count)
    }
}

/// A source with a single connection of the same name, which gives up soon. `more` is added to
/// the connection, or replaces what it has.
pub fn source(name: &str, url: &str, more: Value) -> Value {
    let mut connection = json!({
        "name": name,
        "url": url,
        "timeoutMs": 1000,
        "retry": { "schedule": [0, 1], "jitterPercent": 0 },
    });
    if let (Value::Object(fields), Value::Object(more)) = (&mut connection, more) {
        fields.extend(more);
    }
    json!({ "name": name, "connections": [connection] })
}

/// Of a story with one delivery: what came of it, and each attempt.
pub fn told(story: &Value) -> String {
    let delivery = &story["deliveries"][0];
    let word = |value: &Value| value.as_str().map(|text| format!(" {text}")).unwrap_or_default();
    let mut told = format!("{}{}", delivery["state"].as_str().unwrap(), word(&delivery["reason"]));
    for attempt in story["attempts"].as_array().unwrap() {
        told += &format!(" / {}{}", attempt["statusCode"], word(&attempt["error"]));
    }
    told
}
