use std::collections::BTreeMap;

use super::*;

#[test]
fn a_hundred_turns_have_the_shares_of_the_mix() {
    assert_eq!(Operation::MIX.iter().map(|(_, share)| share).sum::<u32>(), 100);
    for first in [0, 1, 700, 4_000_000_000] {
        let mut seen = BTreeMap::new();
        for turn in first..first + 100 {
            *seen.entry(Operation::at(turn)).or_insert(0) += 1;
        }
        assert_eq!(seen, BTreeMap::from(Operation::MIX));
    }
}

#[test]
fn a_wrong_answer_is_told_and_an_empty_list_is_one() {
    let mix = Mix::of(Stock::default(), Env::fixed("2026-01-01T00:00:00Z"));
    let ask = |operation| Ask { operation, request: String::new() };
    let list = ask(Operation::ListReplays);
    assert_eq!(list.check(Some(200), br#"{"data":[{"replayId":""#, &mix), Ok(()));
    for (status, body) in [(Some(200), r#"{"data":[],"#), (Some(429), "{}"), (None, "")] {
        assert!(list.check(status, body.as_bytes(), &mix).is_err(), "{status:?} {body}");
    }
    assert!(ask(Operation::CreateSource).check(Some(200), b"{}", &mix).is_err());
}

#[test]
fn what_was_answered_is_asked_for_later() {
    let keys = vec![ferryhook_core::key::PlainKey::generate(&Env::system())];
    let mix = Mix::of(Stock { keys, ..Stock::default() }, Env::fixed("2026-01-01T00:00:00Z"));
    let turn = |wanted| (0..100).find(|turn| Operation::at(*turn) == wanted).unwrap();
    let asked = |wanted| mix.ask(turn(wanted)).operation;

    assert_eq!(asked(Operation::ListEventsFurther), Operation::ListEvents);
    mix.learn(Operation::ListEvents, br#"{"data":[],"cursor":"abc"}"#).unwrap();
    let further = mix.ask(turn(Operation::ListEventsFurther));
    assert!(further.request.starts_with("GET /v1/events?cursor=abc HTTP/1.1\r\n"));

    assert_eq!(asked(Operation::DeleteSource), Operation::CreateSource);
    mix.learn(Operation::CreateSource, br#"{"sourceId":"src_1"}"#).unwrap();
    let delete = mix.ask(turn(Operation::DeleteSource));
    assert!(delete.request.starts_with("DELETE /v1/sources/src_1 HTTP/1.1\r\n"));
}
