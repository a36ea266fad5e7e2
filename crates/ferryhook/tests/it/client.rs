//! A client of the API: a running server, and a key of an account that nobody else has.

use std::path::Path;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use ferryhook_core::account::{self, AccountType};
use ferryhook_core::key::{self, Permissions};
use ferryhook_core::member::{self, Role};
use ferryhook_core::{Account, Env, Id, Key, Map, Member, Secret, User, samples};
use serde_json::Value;
use tempfile::TempDir;

use crate::ferry::{Answer, Ferry, run, show};
use crate::storage::{DATA, look};

/// However slow the machine, by then it must be so.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

pub struct Client {
    pub ferry: Ferry,
    pub folder: TempDir,
    pub key: String,
}

impl Client {
    /// Of a server that may deliver to this machine.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Whoever lists events of nothing has made the directory.
        let made = run(&folder, &["apply", "-f", "/dev/null"], &[]);
        assert!(folder.path().join(DATA).exists(), "{}", show(&made));
        let key = sign_up(folder.path(), "one@example.com", Permissions::Write);
        let ferry = Ferry::start_in(&folder, &[("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")]);
        Self { ferry, folder, key }
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
        let (key, length) = (&self.key, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             authorization: Bearer {key}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
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

/// An account with its owner, and a key for it; while no server has the data open.
fn sign_up(folder: &Path, email: &str, permissions: Permissions) -> String {
    let env = Env::system();
    let now = env.now();
    let (user_id, account_id, key_id) = (Id::new(&env), Id::new(&env), Id::new(&env));
    let user = User {
        id: user_id,
        email: email.to_owned(),
        plan: "self_hosted".to_owned(),
        default_account_id: account_id,
        github_id: None,
        google_id: None,
        ..samples::user()
    };
    let account = Account {
        id: account_id,
        parent_account_id: None,
        kind: AccountType::Conglomerate,
        level: 0,
        status: account::Status::Active,
        user_id,
        ..samples::account()
    };
    let member = Member {
        user_id,
        account_id,
        role: Role::Admin,
        permissions: Map::new(),
        is_default: true,
        joined_at: now,
        invited_by: None,
        status: member::Status::Active,
    };
    let text = format!("fh_live_{key_id}");
    let hash = digest(&SHA256, text.as_bytes());
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let key = Key {
        id: key_id,
        user_id,
        account_id,
        name: "tests".to_owned(),
        hash: Secret::new(hash),
        prefix: text.chars().take(12).collect(),
        permissions,
        operations: None,
        status: key::Status::Active,
        last_used_at: None,
        expires_at: None,
        created_at: now,
        metadata: None,
    };
    look(&folder.join(DATA), async |store| {
        store.users().sign_up(&user, &account, &member).await.unwrap();
        store.keys().create(&key).await.unwrap();
    });
    text
}
