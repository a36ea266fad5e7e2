//! Several at once, on one store: two servers that share tables, or many clients of one server.
//!
//! An address is one user's however many ask for it at the same moment, and a key opens nothing
//! from the moment on in which somebody was told that it is revoked, on whichever server they ask.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::client::{Client, told};
use crate::ferry::Ferry;

const PASSWORD: &str = "correct horse 7";
/// Addresses that are fought for, and how many fight for each on every server. Fewer than the
/// tries that cost no waiting.
const ADDRESSES: usize = 4;
const RACERS: usize = 4;
/// Keys that are made, used and revoked.
const KEYS: usize = 12;
/// Who uses each on every server, without a pause.
const USERS: usize = 2;

const SETTINGS: [(&str, &str); 2] =
    [("FERRYHOOK_SIGNUP", "open"), ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0")];

#[cfg(feature = "aws")]
mod two_servers {
    use super::*;
    use crate::tables::{as_variables, made};

    fn two(name: &str) -> Option<[Ferry; 2]> {
        let tables = made(name)?;
        let variables = [as_variables(&tables), SETTINGS.to_vec()].concat();
        Some([Ferry::start_with(&variables), Ferry::start_with(&variables)])
    }

    #[test]
    fn give_an_address_to_one() {
        let Some(servers) = two("signup") else { return };
        fight_for_addresses(&servers);
    }

    #[test]
    fn know_at_once_that_a_key_is_revoked() {
        let Some(servers) = two("keys") else { return };
        use_and_revoke(&servers);
    }
}

mod one_server {
    use super::*;

    #[test]
    fn gives_an_address_to_one() {
        fight_for_addresses(&[Ferry::start_with(&SETTINGS)]);
    }

    #[test]
    fn knows_at_once_that_a_key_is_revoked() {
        use_and_revoke(&[Ferry::start_with(&SETTINGS)]);
    }
}

/// Each address by several at every server, spelled in two ways.
fn fight_for_addresses(servers: &[Ferry]) {
    let addresses: Vec<_> = (0..ADDRESSES).map(|place| format!("ada{place}@example.com")).collect();
    let sign_up = |server: &Ferry, email: &str| {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada" });
        Client::of(server, "").post("/v1/auth/signup", body)
    };
    let answers: Vec<(usize, u16, Value)> = thread::scope(|scope| {
        let mut racers = Vec::new();
        for racer in 0..RACERS {
            for (place, address) in addresses.iter().enumerate() {
                for server in servers {
                    let spelled = match racer % 2 {
                        0 => address.clone(),
                        _ => address.to_uppercase(),
                    };
                    racers.push(scope.spawn(move || {
                        let answer = sign_up(server, &spelled);
                        (place, answer.status, answer.json())
                    }));
                }
            }
        }
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    for (place, address) in addresses.iter().enumerate() {
        let own = answers.iter().filter(|(of, ..)| *of == place);
        let (made, refused): (Vec<_>, Vec<_>) = own.partition(|(_, status, _)| *status == 201);
        assert_eq!(made.len(), 1, "{address}: {made:#?}");
        // One whose connection broke is asked again, and the brake counts that as a try.
        let is_refused = |status: u16| matches!(status, 409 | 429);
        assert!(refused.iter().all(|(_, status, _)| is_refused(*status)), "{refused:#?}");
        // Everywhere it is the same person.
        for server in servers {
            let body = json!({ "email": address, "password": PASSWORD });
            let said = told(&Client::of(server, "").post("/v1/auth/login", body), 200);
            assert_eq!(said["user"]["userId"], made[0].2["user"]["userId"]);
            assert_eq!(said["account"]["accountId"], made[0].2["account"]["accountId"]);
        }
    }
    let users = answers.iter().filter_map(|(.., body)| body["user"]["userId"].as_str());
    assert_eq!(users.collect::<BTreeSet<_>>().len(), ADDRESSES);
}

/// Made at one server and revoked at the next, while it is in use at all of them.
fn use_and_revoke(servers: &[Ferry]) {
    let body = json!({ "email": "ada@example.com", "password": PASSWORD, "name": "Ada" });
    let ada = told(&Client::of(&servers[0], "").post("/v1/auth/signup", body), 201);
    let token = ada["accessToken"].as_str().unwrap();
    let (opened, shut) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ids: Vec<String> = thread::scope(|scope| {
        let makers: Vec<_> = (0..KEYS)
            .map(|place| {
                let (opened, shut) = (&opened, &shut);
                scope.spawn(move || one_life(servers, token, place, opened, shut))
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), KEYS);
    // The race was one: it was used before, and refused after, many times over.
    let (opened, shut) = (opened.into_inner(), shut.into_inner());
    assert!(opened >= KEYS * servers.len(), "{opened} uses");
    assert!(shut >= KEYS * servers.len() * USERS, "{shut} refusals");
    println!("{opened} uses before the revocations, {shut} refusals after, none the other way");
    for server in servers {
        let list = told(&Client::of(server, token).get("/v1/api-keys?limit=100"), 200);
        let rows = list["data"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["status"] == "revoked"), "{list:#}");
        assert_eq!(rows.len(), KEYS);
    }
}

fn one_life(
    servers: &[Ferry],
    token: &str,
    place: usize,
    opened: &AtomicUsize,
    shut: &AtomicUsize,
) -> String {
    let at = |turn: usize| Client::of(&servers[(place + turn) % servers.len()], token);
    let new = json!({ "name": format!("key {place}"), "permissions": "read" });
    let made = told(&at(0).post("/v1/api-keys", new), 201);
    let (id, key) = (made["keyId"].as_str().unwrap(), made["key"].as_str().unwrap());
    // Who was told that there is a key can use it, on every server.
    for server in servers {
        told(&Client::of(server, key).get("/v1/whoami"), 200);
        opened.fetch_add(1, Ordering::Relaxed);
    }
    let is_revoked = AtomicBool::new(false);
    thread::scope(|scope| {
        for server in servers.iter().flat_map(|server| [server; USERS]) {
            let is_revoked = &is_revoked;
            scope.spawn(move || {
                let client = Client::of(server, key);
                loop {
                    // Asked before the request leaves: one that was under way may still be let in.
                    let must_fail = is_revoked.load(Ordering::SeqCst);
                    let status = client.get("/v1/whoami").status;
                    match (status, must_fail) {
                        (200, false) => opened.fetch_add(1, Ordering::Relaxed),
                        (401, false) => continue,
                        (401, true) => break,
                        other => panic!("a key was answered {other:?} (status, is revoked)"),
                    };
                }
                shut.fetch_add(1, Ordering::Relaxed);
            });
        }
        told(&at(1).delete(&format!("/v1/api-keys/{id}")), 204);
        is_revoked.store(true, Ordering::SeqCst);
    });
    id.to_owned()
}
