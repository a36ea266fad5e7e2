//! Clients of the API: somebody with a key, or with the token they got by signing in; and a tenant,
//! who has a server to themselves.

use std::io::Write;
use std::path::Path;

use ferryhook_api::owner;
use ferryhook_core::key::{self, Permissions, PlainKey};
use ferryhook_core::{Account, Env, Id, Key, Map, Member, User, member, samples};
use ferryhook_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ferry::{Answer, Ferry, read_to_close};
use crate::stage::{PATIENCE, PAUSE};
use crate::storage::{DATA, look};

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    pub address: String,
    /// A key, or a token.
    pub credential: String,
    /// The account in the header, if not the one that is theirs.
    pub account: Option<String>,
}

impl Client {
    pub fn of(ferry: &Ferry, credential: &str) -> Self {
        let (address, credential) = (ferry.address.clone(), credential.to_owned());
        Self { address, credential, account: None }
    }

    pub fn with(&self, credential: &str) -> Self {
        Self { credential: credential.to_owned(), ..self.clone() }
    }

    pub fn in_account(&self, account: &str) -> Self {
        Self { account: Some(account.to_owned()), ..self.clone() }
    }

    /// The text of a new key, made by whoever this is.
    pub fn new_key(&self, permissions: &str) -> String {
        let body = json!({ "name": "tests", "permissions": permissions });
        let made = told(&self.post("/v1/api-keys", body), 201);
        made["key"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None)
    }

    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(body))
    }

    pub fn patch(&self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path, Some(body))
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None)
    }

    pub fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        match body {
            Some(body) => {
                let headers = "content-type: application/json\r\n";
                self.send(method, path, headers, &body.to_string())
            }
            None => self.send(method, path, "", ""),
        }
    }

    pub fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
        if !self.credential.is_empty() {
            head += &format!("authorization: Bearer {}\r\n", self.credential);
        }
        if let Some(account) = &self.account {
            head += &format!("x-ferryhook-account: {account}\r\n");
        }
        if !headers.is_empty() || !body.is_empty() {
            head += &format!("{headers}content-length: {}\r\n", body.len());
        }
        let mut stream = std::net::TcpStream::connect(&self.address).unwrap();
        write!(stream, "{head}\r\n{body}").unwrap();
        Answer::parse(&read_to_close(&mut stream))
    }
}

/// A running server, and a key of an account that nobody else has.
pub struct Tenant {
    pub ferry: Ferry,
    pub folder: TempDir,
    variables: Vec<(String, String)>,
    /// With the token they got by signing up.
    pub person: Client,
    /// With a key that may write.
    pub program: Client,
}

impl Tenant {
    /// Of a server that may deliver to this machine.
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let usual = [
            ("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"),
            ("FERRYHOOK_SIGNUP", "open"),
            // It looks as often as it must.
            ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
        ];
        let variables = [&usual, variables].concat();
        let ferry = Ferry::start_in(&folder, &variables);
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let variables = variables.collect();
        let who = json!({
            "email": "one@example.com", "password": "correct horse battery", "name": "One"
        });
        let nobody = Client::of(&ferry, "");
        let signed_in = told(&nobody.post("/v1/auth/signup", who), 201);
        let person = nobody.with(signed_in["accessToken"].as_str().unwrap());
        let program = person.with(&person.new_key("write"));
        Self { ferry, folder, variables, person, program }
    }

    /// Ends the server with this signal, however it takes that.
    pub fn end(&mut self, signal: &str) {
        self.ferry.signal(signal);
        self.ferry.wait();
    }

    /// Another server on the same data.
    pub fn begin_again(&mut self) {
        let variables = self.variables.iter().map(|(name, value)| (&**name, &**value));
        self.ferry = Ferry::start_in(&self.folder, &variables.collect::<Vec<_>>());
        for client in [&mut self.person, &mut self.program] {
            client.address.clone_from(&self.ferry.address);
        }
    }

    pub fn get(&self, path: &str) -> Value {
        told(&self.program.get(path), 200)
    }

    pub fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.program.post(path, body);
        assert!((200..300).contains(&answer.status), "{answer:?}");
        told(&answer, answer.status)
    }

    pub fn expect(&self, status: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
        told(&self.call(method, path, body), status)
    }

    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.program.call(method, path, body.cloned())
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

/// The body of the answer, if it has this status.
pub fn told(answer: &Answer, status: u16) -> Value {
    assert_eq!(answer.status, status, "{answer:?}");
    match answer.body.is_empty() {
        true => Value::Null,
        false => answer.json(),
    }
}

/// Status, headers and body without what is different each time.
pub fn comparable(answer: &Answer) -> String {
    let head = answer.head.lines().filter(|line| {
        let name = line.split(':').next().unwrap_or_default().to_lowercase();
        !["x-request-id", "date", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"]
            .contains(&&*name)
    });
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("requestId");
    format!("{}\n{body}", head.collect::<Vec<_>>().join("\n"))
}

/// A key of the installation's owner, made while no server has the data open.
pub fn owners_key(folder: &Path) -> String {
    look(&folder.join(DATA), async |store| {
        let owner = owner::ensure(&store, &Env::system()).await.unwrap();
        new_key(&store, owner.user, owner.account).await
    })
}

/// A root account of somebody else, with a key for it.
pub fn strangers_key(folder: &Path) -> (String, String) {
    look(&folder.join(DATA), async |store| {
        let env = Env::system();
        let (user_id, account_id) = (Id::new(&env), Id::new(&env));
        let user = User {
            id: user_id,
            email: format!("{user_id}@example.com"),
            default_account_id: account_id,
            ..samples::user()
        };
        let account = Account::root(account_id, "stranger", user_id, env.now());
        let member = Member {
            user_id,
            account_id,
            role: member::Role::Admin,
            permissions: Map::new(),
            ..samples::member()
        };
        store.users().sign_up(&user, &account, &member).await.unwrap();
        (account_id.to_string(), new_key(&store, user_id, account_id).await)
    })
}

async fn new_key(store: &Store, user_id: Id<User>, account_id: Id<Account>) -> String {
    let env = Env::system();
    let plain = PlainKey::generate(&env);
    let key = Key {
        id: Id::new(&env),
        user_id,
        account_id,
        name: "test".to_owned(),
        hash: plain.hash(),
        prefix: plain.prefix(),
        permissions: Permissions::Admin,
        operations: None,
        status: key::Status::Active,
        last_used_at: None,
        expires_at: None,
        created_at: env.now(),
        metadata: None,
    };
    store.keys().create(&key).await.unwrap();
    plain.expose().to_owned()
}
