//! A client of the API: a running server, and a key of an account that nobody else has.

use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ferry::{Answer, Ferry};

/// However slow the machine, by then it must be so.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// It may deliver to this machine, and is asked as often as a test must.
const VARIABLES: [(&str, &str); 3] = [
    ("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"),
    ("FERRYHOOK_SIGNUP", "open"),
    ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
];

pub struct Client {
    pub ferry: Ferry,
    pub folder: TempDir,
    /// Or the token, until there is one.
    key: String,
}

impl Client {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ferry = Ferry::start_in(&folder, &VARIABLES);
        let mut client = Self { ferry, folder, key: String::new() };
        let who = json!({
            "email": "one@example.com", "password": "correct horse battery", "name": "One"
        });
        let signed_in = client.post("/v1/auth/signup", who);
        client.key = signed_in["accessToken"].as_str().unwrap().to_owned();
        let key = client.post("/v1/api-keys", json!({ "name": "tests", "permissions": "write" }));
        client.key = key["key"].as_str().unwrap_or_else(|| panic!("{key:#}")).to_owned();
        client
    }

    /// The server is killed without a word, and another is started on its data.
    pub fn kill_and_start_again(&mut self) {
        self.ferry.signal("KILL");
        self.ferry.wait();
        self.ferry = Ferry::start_in(&self.folder, &VARIABLES);
    }

    pub fn get(&self, path: &str) -> Value {
        self.expect(200, "GET", path, None)
    }

    pub fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.call("POST", path, Some(&body));
        assert!((200..300).contains(&answer.status), "{answer:?}");
        parsed(&answer)
    }

    pub fn expect(&self, status: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.call(method, path, body);
        assert_eq!(answer.status, status, "{answer:?}");
        parsed(&answer)
    }

    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.call_with(method, path, "content-type: application/json\r\n", &body)
    }

    pub fn call_with(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let (key, length) = (&self.key, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             authorization: Bearer {key}\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        Answer::parse(&self.ferry.last_words(request.as_bytes()))
    }

    /// Looks until it is as wanted.
    pub fn wait(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let env = Env::system();
        let begun = env.elapsed();
        loop {
            let shown = self.get(path);
            if wanted(&shown) {
                return shown;
            }
            assert!(env.elapsed() - begun < PATIENCE, "still not as wanted: {shown:#}");
            std::thread::sleep(PAUSE);
        }
    }
}

fn parsed(answer: &Answer) -> Value {
    match answer.body.is_empty() {
        true => Value::Null,
        false => answer.json(),
    }
}
