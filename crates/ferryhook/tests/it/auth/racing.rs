//! Many at once want the same address.

use std::thread;

use serde_json::json;

use super::person::{EMAIL, PASSWORD, Person};
use crate::ferry::Ferry;

/// From two places each, spelled in two ways: one of them gets it.
#[test]
fn of_many_who_sign_up_with_one_address_one_does() {
    let ferry = Ferry::start_with(&[("FERRYHOOK_SIGNUP", "open")]);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let racers: Vec<_> = (0..8)
            .map(|place| {
                let mut person = Person::at(&ferry);
                let email = if place % 2 == 0 { EMAIL.to_owned() } else { EMAIL.to_uppercase() };
                scope.spawn(move || person.sign_up(&email).status)
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    // The others were told that it is taken, or to wait for their turn.
    assert!(statuses.iter().all(|status| [201, 409, 429].contains(status)), "{statuses:?}");
    let mut ada = Person::at(&ferry);
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    ada.post("/v1/auth/login", &body).expect(200);
}
