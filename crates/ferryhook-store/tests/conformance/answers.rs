//! Answers to requests that may be repeated: done by one, heard by all.

use std::time::Duration;

use ferryhook_core::answer::Reply;
use ferryhook_core::{Answer, Headers, limits};
use ferryhook_store::repositories::{Answering, Asked, Ending};
use futures_util::future::join_all;

use crate::bench::Bench;

const LEASE: Duration = Duration::from_secs(60);

/// A request that no other case makes.
struct Request {
    caller: String,
}

impl Request {
    fn of(bench: &Bench) -> Self {
        Self { caller: bench.own("caller") }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { caller: &self.caller, key_hash: "0a1b", account: None, fingerprint: "2c3d" }
    }

    async fn begin(&self, bench: &Bench) -> Answering {
        bench.store.answers().begin(self.asked(), LEASE).await.unwrap()
    }

    async fn first(&self, bench: &Bench) -> Answer {
        match self.begin(bench).await {
            Answering::First(answer) => answer,
            other => panic!("expected to be the first, got {other:?}"),
        }
    }
}

fn reply(body: impl Into<Vec<u8>>) -> Reply {
    Reply {
        status: 201,
        content_type: Some("application/json".to_owned()),
        headers: Headers::from_iter([("Location", "/v1/sources/1")]),
        body: body.into().into(),
    }
}

pub(crate) async fn the_first_to_ask_is_told_to_do_it(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    assert_eq!(begun.caller, request.caller);
    assert_eq!(request.begin(&bench).await, Answering::Running);
}

pub(crate) async fn a_repetition_hears_the_same_answer(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    // Not text, so that it has to be kept byte by byte.
    let said = reply(b"\xff\x00ok".as_slice());
    let ended = bench.store.answers().finish(&begun, said.clone()).await.unwrap();
    assert_eq!(ended, Ending::Ended);
    assert_eq!(request.begin(&bench).await, Answering::Finished(said.clone()));
    bench.advance(3600);
    assert_eq!(request.begin(&bench).await, Answering::Finished(said));
}

pub(crate) async fn the_same_key_of_another_caller_is_another_request(bench: Bench) {
    let request = Request::of(&bench);
    request.first(&bench).await;
    let other = Request { caller: bench.own("other") };
    other.first(&bench).await;
}

pub(crate) async fn another_request_under_the_same_key_is_told(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    let other = Asked { fingerprint: "other", ..request.asked() };
    let answers = bench.store.answers();
    assert_eq!(answers.begin(other, LEASE).await.unwrap(), Answering::OtherRequest);
    answers.finish(&begun, reply("{}")).await.unwrap();
    assert_eq!(answers.begin(other, LEASE).await.unwrap(), Answering::OtherRequest);
}

pub(crate) async fn one_who_died_is_replaced_and_told_if_they_live(bench: Bench) {
    let request = Request::of(&bench);
    let overslept = request.first(&bench).await;
    bench.advance(60);
    let second = request.first(&bench).await;
    let answers = bench.store.answers();
    assert_eq!(answers.finish(&overslept, reply("late")).await.unwrap(), Ending::Lost);
    assert_eq!(answers.abandon(&overslept).await.unwrap(), Ending::Lost);
    // Also when the row has been made anew, and counts its changes from the beginning again.
    assert_eq!(answers.abandon(&second).await.unwrap(), Ending::Ended);
    let third = request.first(&bench).await;
    assert_eq!(answers.finish(&overslept, reply("late")).await.unwrap(), Ending::Lost);
    assert_eq!(answers.finish(&third, reply("in time")).await.unwrap(), Ending::Ended);
    assert_eq!(request.begin(&bench).await, Answering::Finished(reply("in time")));
}

pub(crate) async fn what_was_abandoned_is_done_anew(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    assert_eq!(bench.store.answers().abandon(&begun).await.unwrap(), Ending::Ended);
    request.first(&bench).await;
}

pub(crate) async fn an_answer_is_kept_for_a_day(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    bench.store.answers().finish(&begun, reply("{}")).await.unwrap();
    let day = limits::ANSWER_KEPT.as_secs();
    bench.advance(day - 1);
    assert_eq!(request.begin(&bench).await, Answering::Finished(reply("{}")));
    bench.advance(1);
    request.first(&bench).await;
}

pub(crate) async fn an_answer_at_the_bound_is_kept_and_one_above_is_not(bench: Bench) {
    let request = Request::of(&bench);
    let begun = request.first(&bench).await;
    let answers = bench.store.answers();
    let larger = reply(vec![b'x'; limits::ANSWER_BODY_BYTES_MAX + 1]);
    assert_eq!(answers.finish(&begun, larger).await.unwrap(), Ending::Ended);
    let begun = request.first(&bench).await;
    let largest = reply(vec![b'x'; limits::ANSWER_BODY_BYTES_MAX]);
    assert_eq!(answers.finish(&begun, largest.clone()).await.unwrap(), Ending::Ended);
    assert_eq!(request.begin(&bench).await, Answering::Finished(largest));
}

pub(crate) async fn of_many_who_ask_at_once_one_does_it(bench: Bench) {
    let request = Request::of(&bench);
    for _ in 0..2 {
        let all = join_all((0..8).map(|_| request.begin(&bench))).await;
        let firsts = all.iter().filter(|told| matches!(told, Answering::First(_)));
        assert_eq!(firsts.count(), 1, "{all:?}");
        bench.advance(60); // and one replaces whoever it was
    }
}
