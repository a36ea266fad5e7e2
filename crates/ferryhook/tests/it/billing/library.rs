//! Stripe's own library, in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::shop::skipped;
use crate::ferry::spawn;

pub struct Library {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Library {
    /// `None`, loudly, where it is not installed.
    pub fn start() -> Option<Self> {
        let Ok(modules) = std::env::var("FERRYHOOK_TEST_NODE_MODULES") else {
            skipped("Stripe's own library: FERRYHOOK_TEST_NODE_MODULES is not set");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/billing/library.mjs");
        let mut command = Command::new("node");
        command.args([script, &modules]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = spawn(&mut command);
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, input, output })
    }

    /// The header of a message that was signed at this moment.
    pub fn sign(&mut self, payload: &str, secret: &str, timestamp: i64) -> String {
        let asked =
            json!({ "task": "sign", "payload": payload, "secret": secret, "timestamp": timestamp });
        self.ask(&asked).unwrap().as_str().unwrap().to_owned()
    }

    /// Has it call a Stripe.
    pub fn call(&mut self, url: &str, key: &str, name: &str, parameters: Value) -> Value {
        let asked = json!({ "task": "call", "url": url, "key": key, "name": name, "parameters": parameters });
        self.ask(&asked).unwrap()
    }

    pub fn verify(&mut self, payload: &str, header: &str, secret: &str) -> Result<Value, String> {
        self.ask(
            &json!({ "task": "verify", "payload": payload, "header": header, "secret": secret }),
        )
    }

    fn ask(&mut self, asked: &Value) -> Result<Value, String> {
        writeln!(self.input, "{asked}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        match answer["failed"].as_str() {
            Some(failed) => Err(failed.to_owned()),
            None => Ok(answer["done"].clone()),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
