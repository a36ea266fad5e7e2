use std::time::Duration;

use ferryhook_core::cli_session::{Answered, Errand, Report, Told};
use ferryhook_core::limits::CLI_REQUESTS_MAX;
use ferryhook_core::{Headers, samples};
use futures_util::{FutureExt, StreamExt};

use super::*;

fn session(number: usize) -> CliSession {
    CliSession {
        id: format!("lsn_{number:0>16}").parse().unwrap(),
        account_id: samples::account().id,
        user_id: samples::user().id,
        path: "/".to_owned(),
        connections: vec![(samples::source().id, format!("conn_{number:0>16}").parse().unwrap())],
    }
}

fn errand() -> Errand {
    Errand {
        number: 0,
        event_id: samples::event().id,
        event_type: None,
        source_id: samples::source().id,
        connection_id: session(1).connections[0].1,
        attempt: 1,
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: Headers::default(),
        body: "{}".into(),
        timeout: Duration::from_secs(10),
    }
}

fn ok(number: u64) -> Report {
    let answered = Answered { status: 200, headers: Headers::default(), body: String::new() };
    Report { number, latency: Duration::ZERO, result: Ok(answered) }
}

async fn number(reader: &mut Reader) -> u64 {
    match reader.next().await {
        Some(Told::Errand(errand)) => errand.number,
        other => panic!("not an errand: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_errand_waits_for_a_reader_and_is_answered() {
    let listeners = Listeners::default();
    let session = listeners.open(session(1)).unwrap();
    let reading = async {
        tokio::time::sleep(Duration::from_secs(25)).await; // more than an errand has once it is read
        let mut reader = session.read(0);
        let first = number(&mut reader).await;
        assert!(session.answer(ok(first)));
        assert!(!session.answer(ok(first)), "once is enough");
    };
    let (answered, ()) = tokio::join!(session.ask(errand()), reading);
    assert_eq!(answered, Ok(ok(1)));
}

/// A reader that comes back goes on behind what it has, and nothing is asked twice.
#[tokio::test(start_paused = true)]
async fn who_comes_back_hears_only_what_is_new() {
    let listeners = Listeners::default();
    let session = listeners.open(session(1)).unwrap();
    let reading = async {
        let mut reader = session.read(0);
        assert_eq!(number(&mut reader).await, 1);
        drop(reader);
        let mut again = session.read(1);
        assert_eq!(number(&mut again).await, 2);
        assert!(again.next().now_or_never().is_none());
        // Who has lost the first as well hears of it once more.
        let mut anew = session.read(0);
        assert_eq!(number(&mut anew).await, 1);
        assert_eq!(again.next().await, Some(Told::End(Ended::Replaced)));
        assert_eq!(again.next().await, None);
        session.answer(ok(1));
        session.answer(ok(2));
    };
    let (one, two, ()) = tokio::join!(session.ask(errand()), session.ask(errand()), reading);
    assert_eq!((one, two), (Ok(ok(1)), Ok(ok(2))));
}

/// Whoever has an errand and says nothing is taken for gone; another may come.
#[tokio::test(start_paused = true)]
async fn a_reader_that_says_nothing_is_replaced() {
    let listeners = Listeners::default();
    let session = listeners.open(session(1)).unwrap();
    let mut reader = session.read(0);
    let reading = async {
        assert_eq!(number(&mut reader).await, 1);
        assert_eq!(reader.next().await, Some(Told::End(Ended::Replaced)));
    };
    let (answered, ()) = tokio::join!(session.ask(errand()), reading);
    assert_eq!(answered, Err(Unheard::Late));
    assert!(!session.answer(ok(1)), "too late");
    assert!(session.is_over(Duration::from_secs(30)).now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_is_told_to_everybody() {
    let listeners = Listeners::default();
    let session = listeners.open(session(1)).unwrap();
    let mut reader = session.read(0);
    let ending = async {
        assert_eq!(number(&mut reader).await, 1);
        listeners.close();
        assert_eq!(reader.next().await, Some(Told::End(Ended::Stopping)));
        assert_eq!(reader.next().await, None);
    };
    let (answered, ()) = tokio::join!(session.ask(errand()), ending);
    assert_eq!(answered, Err(Unheard::Gone));
    assert_eq!(session.ask(errand()).await, Err(Unheard::Gone));
    session.is_over(Duration::from_secs(30)).await;
    assert!(listeners.find(session.of.id).is_none());
    assert!(listeners.of(session.of.connections[0].1).is_none());
    assert_eq!(listeners.open(self::session(2)).unwrap_err(), NoRoom::Stopping);
}

/// Nobody reads it for half a minute: at the beginning, and after each reader.
#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_reads_is_over() {
    let listeners = Listeners::default();
    let session = listeners.open(session(1)).unwrap();
    let grace = Duration::from_secs(30);
    let reading = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        let reader = session.read(0);
        tokio::time::sleep(Duration::from_secs(3600)).await;
        drop(reader);
        tokio::time::sleep(Duration::from_secs(20)).await;
        let reader = session.read(0);
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(reader);
        tokio::time::sleep(Duration::from_secs(29)).await;
    };
    tokio::select! {
        biased;
        () = session.is_over(grace) => panic!("over too early"),
        () = reading => {}
    }
    session.is_over(grace).await;
}

#[tokio::test(start_paused = true)]
async fn there_is_only_so_much_room() {
    let listeners = Listeners::default();
    for number in 0..limits::LISTENERS_PER_ACCOUNT_MAX {
        listeners.open(session(number)).unwrap();
    }
    assert_eq!(listeners.open(session(99)).unwrap_err(), NoRoom::Account);
    for number in limits::LISTENERS_PER_ACCOUNT_MAX..limits::LISTENERS_MAX {
        let account_id = format!("acc_{number:0>16}").parse().unwrap();
        listeners.open(CliSession { account_id, ..session(number) }).unwrap();
    }
    let account_id = "acc_0000000000009999".parse().unwrap();
    let one_more = CliSession { account_id, ..session(99) };
    assert_eq!(listeners.open(one_more).unwrap_err(), NoRoom::Server);
    assert!(listeners.end(session(0).id, Ended::Closed).is_some());
    let first = listeners.open(session(99)).unwrap();
    let asked = (0..=CLI_REQUESTS_MAX).map(|_| first.ask(errand()));
    let mut asked: Vec<_> = asked.map(Box::pin).collect();
    for waiting in &mut asked[..CLI_REQUESTS_MAX] {
        assert!(waiting.now_or_never().is_none());
    }
    assert_eq!(asked.pop().unwrap().now_or_never(), Some(Err(Unheard::Gone)));
    // Whoever no longer waits makes room.
    asked.pop();
    assert!(first.ask(errand()).now_or_never().is_none());
}
