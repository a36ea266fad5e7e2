//! Accounts from the front door: the tree, keys, and what a suspended account still does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, comparable, owners_key, strangers_key, told};
use crate::destination::{Destination, OK, say};
use crate::ferry::{Answer, Ferry};
use crate::stage::{PATIENCE, PAUSE};

/// A server whose owner has a key.
struct House {
    ferry: Ferry,
    owner: Client,
    folder: TempDir,
}

impl House {
    fn new() -> Self {
        Self::with(|_| ()).0
    }

    /// `prepare` sees the data while no server has it.
    fn with<T>(prepare: impl FnOnce(&std::path::Path) -> T) -> (Self, T) {
        let folder = tempfile::tempdir().unwrap();
        Ferry::start_in(&folder, &[]).stop();
        let key = owners_key(folder.path());
        let prepared = prepare(folder.path());
        let allow = [("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")];
        let ferry = Ferry::start_in(&folder, &allow);
        let owner = Client::of(&ferry, &key);
        (Self { ferry, owner, folder }, prepared)
    }

    fn child(&self, name: &str) -> String {
        let body = json!({"accountName": name, "accountType": "subsidiary"});
        text(&told(&self.owner.post("/v1/accounts", body), 201), "accountId")
    }
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_else(|| panic!("{name} of {body}")).to_owned()
}

/// A source with one connection to the destination; gives back where events go.
fn connect(client: &Client, destination: &Destination) -> String {
    let source = told(&client.post("/v1/sources", json!({"name": "shop"})), 201);
    let source = text(&source, "sourceId");
    let connection = json!({
        "name": "crm",
        "destinationUrl": destination.url("hook"),
        "retryConfig": {"schedule": [0, 1, 1, 1, 1, 1], "jitterPercent": 0},
    });
    told(&client.post(&format!("/v1/sources/{source}/connections"), connection), 201);
    format!("/in/{source}")
}

/// Looks until it is as wanted.
fn wait(look: impl Fn() -> Value, wanted: impl Fn(&Value) -> bool) -> Value {
    let env = Env::system();
    let begun = env.elapsed();
    loop {
        let seen = look();
        if wanted(&seen) {
            return seen;
        }
        assert!(env.elapsed() - begun < PATIENCE, "still not as wanted: {seen:#}");
        thread::sleep(PAUSE);
    }
}

/// Nothing comes in, nothing goes out, nothing is lost.
#[test]
fn a_suspended_account_holds_and_goes_on() {
    let house = House::new();
    let is_well = Arc::new(AtomicBool::new(false));
    let moody = || {
        let is_well = is_well.clone();
        Destination::new(move |_, stream| match is_well.load(Ordering::Relaxed) {
            true => say(stream, OK),
            false => say(stream, b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
        })
    };
    let (destination, neighbour) = (moody(), moody());
    let child = house.child("retail");
    let there = house.owner.in_account(&child);
    let path = connect(&there, &destination);
    let other = connect(&house.owner, &neighbour);
    let event = text(&told(&house.ferry.post(&path, b"{}"), 200), "id");
    destination.wait_for(1);

    let close = |verb: &str| {
        told(&house.owner.post(&format!("/v1/accounts/{child}/{verb}"), json!({})), 200)
    };
    assert_eq!(close("suspend")["status"], "suspended");
    let refused = house.ferry.post(&path, b"{}");
    assert_eq!(refused.status, 403, "from the moment of the answer on");
    let refused = told(&there.post("/v1/sources", json!({"name": "late"})), 403);
    assert_eq!(refused["code"], "ACCOUNT_SUSPENDED");

    // What came later elsewhere is tried a second time; here that would have been before.
    told(&house.ferry.post(&other, b"{}"), 200);
    neighbour.wait_for(3);
    let before = destination.calls().len();
    assert!(before <= 2, "one may have been under way: {before}");
    is_well.store(true, Ordering::Relaxed);
    told(&house.ferry.post(&other, b"{}"), 200);
    neighbour.wait_for(4);
    assert_eq!(destination.calls().len(), before);

    assert_eq!(close("resume")["status"], "active");
    destination.wait_for(before + 1);
    let look = || told(&there.get(&format!("/v1/events/{event}")), 200);
    wait(look, |story| story["status"] == "delivered");
    told(&house.ferry.post(&path, b"{}"), 200);
    destination.wait_for(before + 2);
}

/// A restart in between changes nothing about it.
#[test]
fn a_suspended_account_stays_so_after_a_restart() {
    let house = House::new();
    let destination = Destination::kind();
    let child = house.child("retail");
    let path = connect(&house.owner.in_account(&child), &destination);
    told(&house.owner.post(&format!("/v1/accounts/{child}/suspend"), json!({})), 200);
    let House { ferry, owner, folder } = house;
    ferry.stop();
    let allow = [("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")];
    let ferry = Ferry::start_in(&folder, &allow);
    let owner = Client { address: ferry.address.clone(), ..owner };
    assert_eq!(ferry.post(&path, b"{}").status, 403);
    told(&owner.post(&format!("/v1/accounts/{child}/resume"), json!({})), 200);
    told(&ferry.post(&path, b"{}"), 200);
    destination.wait_for(1);
}

/// One who administers the account above acts in the one beneath, and nobody else does.
#[test]
fn an_account_is_run_from_above() {
    let house = House::new();
    let child = house.child("retail");
    let there = house.owner.in_account(&child);
    told(&there.post("/v1/sources", json!({"name": "shop"})), 201);
    let here = told(&house.owner.get("/v1/sources"), 200);
    assert_eq!(here["data"], json!([]));
    let shown = told(&house.owner.get(&format!("/v1/accounts/{child}")), 200);
    assert_eq!(
        (&shown["role"], &shown["accountPath"]),
        (&json!("admin"), &json!("/local/retail/"))
    );

    // A key of the child knows nothing of what is above.
    let body = json!({"name": "theirs", "permissions": "admin"});
    let key = text(&told(&there.post("/v1/api-keys", body), 201), "key");
    let below = house.owner.with(&key);
    assert_eq!(told(&below.get("/v1/whoami"), 200)["accountId"], child);
    let own = text(&told(&house.owner.get("/v1/whoami"), 200), "accountId");
    told(&below.get(&format!("/v1/accounts/{own}")), 404);
    told(&below.in_account(&own).get("/v1/sources"), 403);
    told(&below.post(&format!("/v1/accounts/{own}/suspend"), json!({})), 404);
}

/// Each scope does what it says, over the wire.
#[test]
fn keys_do_what_their_scope_says() {
    let house = House::new();
    let new = json!({"name": "x"});
    let key = json!({"name": "k", "permissions": "read"});
    for (scope, reads, writes, makes_keys) in
        [("read", 200, 403, 403), ("write", 200, 201, 403), ("admin", 200, 201, 201)]
    {
        let body = json!({"name": scope, "permissions": scope});
        let made = told(&house.owner.post("/v1/api-keys", body), 201);
        let client = house.owner.with(&text(&made, "key"));
        assert_eq!(client.get("/v1/sources").status, reads, "{scope}");
        assert_eq!(client.post("/v1/sources", new.clone()).status, writes, "{scope}");
        assert_eq!(client.post("/v1/api-keys", key.clone()).status, makes_keys, "{scope}");
    }
}

/// Two who make and revoke keys as fast as they are allowed, and one beside each who uses every
/// key all the time. From the answer to its revocation on a key never works again.
#[test]
fn no_key_works_after_its_revocation_was_answered() {
    const KEYS: usize = 40;
    let house = House::new();
    let make = |client: &Client| {
        let body = json!({"name": "load", "permissions": "admin"});
        let made = told(&client.post("/v1/api-keys", body), 201);
        (text(&made, "keyId"), text(&made, "key"))
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            // Each with a key of its own, for a hundred calls a minute.
            let (_, key) = make(&house.owner);
            let maker = house.owner.with(&key);
            let current = Arc::new(Mutex::new(String::new()));
            let done = Arc::new(AtomicBool::new(false));
            let (used, over, user) = (current.clone(), done.clone(), house.owner.clone());
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let key = used.lock().unwrap().clone();
                    let status = user.with(&key).get("/v1/whoami").status;
                    assert!([200, 401, 429].contains(&status), "{status}");
                }
            });
            scope.spawn(move || {
                for _ in 0..KEYS {
                    let (id, key) = make(&maker);
                    key.clone_into(&mut current.lock().unwrap());
                    let before = maker.with(&key).get("/v1/whoami").status;
                    assert_ne!(before, 401, "it works, if perhaps too often");
                    assert_eq!(maker.delete(&format!("/v1/api-keys/{id}")).status, 204);
                    let after = maker.with(&key).get("/v1/whoami").status;
                    assert_eq!(after, 401, "it works after its revocation was answered");
                }
                done.store(true, Ordering::Relaxed);
            });
        }
    });
}

/// For each address: what a stranger has is answered like what nobody has.
#[test]
fn what_is_foreign_is_like_what_is_not() {
    let (house, (account, key)) = House::with(strangers_key);
    let stranger = house.owner.with(&key);
    let whoami = told(&stranger.get("/v1/whoami"), 200);
    let user = text(&whoami, "userId");
    let key_id = text(&whoami, "keyId");
    let own = text(&told(&house.owner.get("/v1/whoami"), 200), "accountId");
    let body = json!({"email": "grace@example.com", "role": "viewer"});
    let invitations = format!("/v1/accounts/{account}/invitations");
    let invitation = text(&told(&stranger.post(&invitations, body), 201), "invitationId");
    let (nowhere, nobody) = ("acc_0000000000000000", "usr_0000000000000000");
    let (no_key, no_invitation) = ("key_0000000000000000", "inv_0000000000000000");

    let mut addresses = Vec::new();
    let mut pair = |method: &'static str, foreign: String, missing: String| {
        addresses.push((method, foreign, missing));
    };
    for (method, rest) in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/children"),
        ("GET", "/members"),
        ("GET", "/invitations"),
    ] {
        let path = |account: &str| format!("/v1/accounts/{account}{rest}");
        pair(method, path(&account), path(nowhere));
    }
    for method in ["GET", "PATCH", "DELETE"] {
        let member = |account: &str, user: &str| format!("/v1/accounts/{account}/members/{user}");
        pair(method, member(&own, &user), member(&own, nobody));
        pair(method, member(&account, &user), member(nowhere, nobody));
        let path = |key: &str| format!("/v1/api-keys/{key}");
        pair(method, path(&key_id), path(no_key));
    }
    let path = |account: &str, id: &str| format!("/v1/accounts/{account}/invitations/{id}");
    pair("DELETE", path(&own, &invitation), path(&own, no_invitation));
    pair("DELETE", path(&account, &invitation), path(nowhere, no_invitation));

    let ask = |method: &str, path: &str| -> Answer {
        let body = (method == "PATCH").then(|| json!({}));
        house.owner.call(method, path, body)
    };
    for (method, foreign, missing) in addresses {
        let (foreign, missing) = (ask(method, &foreign), ask(method, &missing));
        assert_eq!(foreign.status, 404, "{foreign:?}");
        assert_eq!(comparable(&foreign), comparable(&missing));
    }
    told(&stranger.get("/v1/whoami"), 200);
}

/// From the link of the first start to a colleague who works in an account beneath.
#[test]
fn a_team_moves_in() {
    const PASSWORD: &str = "correct horse 7";
    let ferry = Ferry::start_with(&[("FERRYHOOK_SIGNUP", "invite")]);
    let token = ferry.greeting.split_once("token=").unwrap().1.split(' ').next().unwrap();
    let nobody = Client::of(&ferry, "");
    let claim = json!({"token": token, "email": "ada@example.com", "password": PASSWORD});
    let entered = told(&nobody.post("/v1/auth/setup", claim.clone()), 201);
    let ada = nobody.with(&text(&entered, "accessToken"));
    assert_ne!(nobody.post("/v1/auth/setup", claim).status, 201, "once");
    assert_eq!(told(&ada.get("/v1/whoami"), 200)["role"], "admin");

    let new = json!({"accountName": "retail", "accountType": "subsidiary"});
    let retail = text(&told(&ada.post("/v1/accounts", new), 201), "accountId");
    let invitations = format!("/v1/accounts/{retail}/invitations");
    let invite = json!({"email": "grace@example.com", "role": "manager"});
    let invitation = text(&told(&ada.post(&invitations, invite), 201), "token");

    let mut sign_up = json!({"email": "grace@example.com", "password": PASSWORD});
    told(&nobody.post("/v1/auth/signup", sign_up.clone()), 403);
    sign_up["invitationToken"] = json!(invitation);
    let entered = told(&nobody.post("/v1/auth/signup", sign_up), 201);
    let grace = nobody.with(&text(&entered, "accessToken"));
    assert_eq!(told(&grace.get("/v1/whoami"), 200)["accountId"], retail);

    // A manager works, invites and hands out keys, and goes no further.
    told(&grace.post("/v1/sources", json!({"name": "shop"})), 201);
    told(&grace.post("/v1/api-keys", json!({"name": "ci", "permissions": "write"})), 201);
    told(&grace.post("/v1/api-keys", json!({"name": "ci", "permissions": "admin"})), 403);
    told(&grace.patch(&format!("/v1/accounts/{retail}"), json!({"accountName": "x"})), 403);
    let above = text(&told(&ada.get("/v1/whoami"), 200), "accountId");
    told(&grace.get(&format!("/v1/accounts/{above}")), 404);
    let members = told(&ada.get(&format!("/v1/accounts/{retail}/members")), 200);
    // Ada is above, and needs no place of her own.
    assert_eq!(members["data"].as_array().unwrap().len(), 1);

    // Less from now on, with the token she has.
    let id = text(&told(&grace.get("/v1/whoami"), 200), "userId");
    let place = format!("/v1/accounts/{retail}/members/{id}");
    told(&ada.patch(&place, json!({"role": "viewer"})), 200);
    told(&grace.post("/v1/sources", json!({"name": "late"})), 403);
    told(&grace.get("/v1/sources"), 200);
    told(&ada.delete(&place), 204);
    told(&grace.get("/v1/sources"), 403);
}
