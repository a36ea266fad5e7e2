use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use ferryhook_core::env::ManualClock;
use ferryhook_core::samples;
use ferryhook_core::transform::Outcome;
use futures_util::future::join_all;

use super::limits::{
    OVERDUE, QUICK, QUICK_OVERDUE, QUICK_RUNS, REST, REST_MAX, STUCK_MAX, STUCK_PER_CONNECTION_MAX,
    WAITING_PER_CONNECTION_MAX,
};
use super::*;

fn connection(number: usize) -> Id<Connection> {
    format!("conn_{number:016}").parse().unwrap()
}

fn script(code: &str) -> Arc<Transform> {
    let text = serde_json::json!({"type": "javascript", "code": code}).to_string();
    Arc::new(Transform::parse(&text).unwrap())
}

fn good() -> Arc<Transform> {
    script("function transform(payload) { return { id: payload.id } }")
}

fn done() -> Answer {
    Ok(Shaped { outcome: Outcome::Unchanged, console: Vec::new() })
}

fn scripts(threads: usize) -> (Scripts, Arc<ManualClock>) {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    (Scripts::with(threads, env), clock)
}

/// Work that says when it began and ends when it is told to.
fn held() -> (Work, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let ended = Mutex::new(ended);
    let work = Arc::new(move |_| {
        begin.send(()).expect("somebody waits for it");
        ended.lock().unwrap().recv().ok();
        done()
    });
    (work, begun, end)
}

/// Lets a connection show that its runs are quick.
async fn prove(scripts: &Scripts, connection: Id<Connection>) {
    for _ in 0..QUICK_RUNS {
        scripts.submit(connection, good(), Arc::new(|_| done())).await.unwrap();
    }
}

/// Starts a run that does not end and has it given up; what ends it comes back, or why it
/// was not begun.
async fn lose(
    scripts: &Scripts,
    clock: &ManualClock,
    connection: Id<Connection>,
    transform: Arc<Transform>,
) -> Result<mpsc::Sender<()>, Fault> {
    let (work, begun, end) = held();
    let mut job = Box::pin(scripts.submit(connection, transform, work));
    if let std::task::Poll::Ready(answer) = futures_util::poll!(&mut job) {
        return Err(answer.unwrap_err().fault);
    }
    begun.recv().unwrap();
    clock.advance(OVERDUE * 2);
    scripts.0.0.look_now();
    assert_eq!(job.await.unwrap_err().fault, Fault::Overdue(OVERDUE));
    Ok(end)
}

fn body(answer: Answer) -> String {
    match answer.unwrap().outcome {
        Outcome::Changed(event) => event.body.as_text().unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_beside_the_runtime() {
    let (scripts, _) = scripts(2);
    let event = samples::event();
    let answers = (0..50).map(|n| scripts.run(connection(n % 5), good(), &event));
    for answer in join_all(answers).await {
        assert_eq!(body(answer), r#"{"id":"evt_1"}"#);
    }
    let endless = scripts.run(connection(1), script("function transform() { for (;;); }"), &event);
    assert_eq!(endless.await.unwrap_err().fault.code(), "time");
    // What is quick needs no thread.
    let map = Arc::new(Transform::parse(r#"{"type":"passthrough"}"#).unwrap());
    scripts.stop();
    assert_eq!(scripts.run(connection(1), map, &event).await.unwrap().outcome, Outcome::Unchanged);
}

/// One connection that holds all it can get leaves a thread to the others.
#[tokio::test(flavor = "multi_thread")]
async fn one_connection_never_has_every_thread() {
    let (scripts, _) = scripts(3);
    prove(&scripts, connection(0)).await;
    let greedy: Vec<_> = (0..20).map(|_| held()).collect();
    let mut begun = Vec::new();
    let mut ends = Vec::new();
    let mut jobs = Vec::new();
    for (work, begin, end) in greedy {
        jobs.push(scripts.submit(connection(0), good(), work));
        begun.push(begin);
        ends.push(end);
    }
    let mut jobs = Box::pin(join_all(jobs));
    assert!(futures_util::poll!(&mut jobs).is_pending());
    // Two of them hold two threads; a hundred runs of others go through the third.
    begun[0].recv().unwrap();
    begun[1].recv().unwrap();
    let event = samples::event();
    for n in 1..=100 {
        assert_eq!(body(scripts.run(connection(n), good(), &event).await), r#"{"id":"evt_1"}"#);
    }
    assert!(begun[2..].iter().all(|begin| begin.try_recv().is_err()), "a third one began");
    drop(ends);
    assert!(jobs.await.iter().all(Result::is_ok));
}

/// Nor have several of them that are known to be slow.
#[tokio::test(flavor = "multi_thread")]
async fn slow_ones_together_never_have_every_thread() {
    let (scripts, _) = scripts(2);
    for n in 0..4 {
        let slow = Arc::new(|_| {
            let begun = threads::spent();
            while threads::spent() - begun < limits::SLOW * 2 {}
            done()
        });
        scripts.submit(connection(n), good(), slow).await.unwrap();
    }
    for n in 10..60 {
        prove(&scripts, connection(n)).await;
    }
    let (mut jobs, mut ends, mut begun) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..4 {
        let (work, begin, end) = held();
        jobs.push(scripts.submit(connection(n), good(), work));
        begun.push(begin);
        ends.push(end);
    }
    let mut jobs = Box::pin(join_all(jobs));
    assert!(futures_util::poll!(&mut jobs).is_pending());
    begun[0].recv().unwrap();
    let event = samples::event();
    for n in 10..60 {
        scripts.run(connection(n), good(), &event).await.unwrap();
    }
    assert!(begun[1..].iter().all(|begin| begin.try_recv().is_err()), "a second slow one began");
    drop(ends);
    assert!(jobs.await.iter().all(Result::is_ok));
}

/// A run that does not end is answered for, its thread replaced, its connection left to rest;
/// and when it ends after all, the spare thread goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_thread_is_replaced() {
    let (scripts, clock) = scripts(2);
    let transform = good();
    let (work, begun, end) = held();
    let mut stuck = Box::pin(scripts.submit(connection(0), transform.clone(), work));
    assert!(futures_util::poll!(&mut stuck).is_pending());
    begun.recv().unwrap();
    scripts.0.0.look_now();
    assert!(futures_util::poll!(&mut stuck).is_pending(), "it has time left");
    clock.advance(OVERDUE + Duration::from_millis(1));
    scripts.0.0.look_now();
    assert_eq!(stuck.await.unwrap_err().fault, Fault::Overdue(OVERDUE));

    let event = samples::event();
    let again = scripts.run(connection(0), transform.clone(), &event).await;
    assert_eq!(again.unwrap_err().fault, Fault::Resting);
    // Its neighbours, and a better version of it, go on.
    scripts.run(connection(1), transform.clone(), &event).await.unwrap();
    scripts.run(connection(0), good(), &event).await.unwrap();
    assert_eq!(scripts.0.0.counts(), (2, 1));
    clock.advance(REST);
    scripts.run(connection(0), transform, &event).await.unwrap();

    drop(end);
    while scripts.0.0.counts() != (2, 0) {
        tokio::task::yield_now().await;
    }
}

/// However many scripts never end: connections that are quick go on, while those that nobody knows
/// are put off, and come back with the threads.
#[tokio::test(flavor = "multi_thread")]
async fn lost_threads_are_bounded_and_quick_connections_go_on() {
    for threads in [2, 4] {
        let (scripts, clock) = scripts(threads);
        let (quick, event) = (connection(99), samples::event());
        prove(&scripts, quick).await;
        let mut ends = Vec::new();
        let mut refused = 0;
        for n in 0..30 {
            match lose(&scripts, &clock, connection(n), good()).await {
                Ok(end) => ends.push(end),
                Err(fault) => {
                    assert_eq!(fault, Fault::Busy);
                    assert!(TransformError::from(fault).is_ours());
                    refused += 1;
                }
            }
            scripts.run(quick, good(), &event).await.unwrap();
        }
        assert_eq!((ends.len(), refused), (STUCK_MAX + threads - 1, 31 - STUCK_MAX - threads));
        drop(ends);
        while scripts.0.0.counts().1 > 0 {
            tokio::task::yield_now().await;
        }
        scripts.run(connection(98), good(), &event).await.unwrap();
    }
}

/// The same when all of them begin at once, and what waited is answered.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_behind_lost_threads_is_put_off() {
    let (scripts, clock) = scripts(4);
    let (quick, event) = (connection(99), samples::event());
    prove(&scripts, quick).await;
    let (mut jobs, mut ends) = (Vec::new(), Vec::new());
    for n in 0..40 {
        let (work, begun, end) = held();
        let mut job = Box::pin(scripts.submit(connection(n), good(), work));
        assert!(futures_util::poll!(&mut job).is_pending());
        jobs.push((job, begun));
        ends.push(end);
    }
    for (_, begun) in jobs.iter().take(STUCK_MAX + 3) {
        begun.recv().unwrap();
        scripts.run(quick, good(), &event).await.unwrap();
        clock.advance(OVERDUE * 2);
        scripts.0.0.look_now();
    }
    let mut faults = Vec::new();
    for (job, _) in jobs {
        faults.push(job.await.unwrap_err().fault);
    }
    assert!(faults[..STUCK_MAX + 3].iter().all(|fault| *fault == Fault::Overdue(OVERDUE)));
    assert!(faults[STUCK_MAX + 3..].iter().all(|fault| *fault == Fault::Busy));
    scripts.run(quick, good(), &event).await.unwrap();
}

/// One that was quick and then is not costs its thread once; from then on it is one of the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_quick_connection_that_gets_stuck_is_quick_no_more() {
    let (scripts, clock) = scripts(2);
    let event = samples::event();
    let mut ends = Vec::new();
    for n in 0..12 {
        prove(&scripts, connection(n)).await;
    }
    prove(&scripts, connection(99)).await;
    for n in 0..12 {
        ends.push(lose(&scripts, &clock, connection(n), good()).await.unwrap());
        scripts.run(connection(99), good(), &event).await.unwrap();
    }
    // Better versions of them run, but do not make them quick again for a while.
    prove(&scripts, connection(0)).await;
    let mut first = 0;
    while let Ok(end) = lose(&scripts, &clock, connection(100 + first), good()).await {
        ends.push(end);
        first += 1;
    }
    let answer = scripts.run(connection(0), good(), &event).await;
    assert_eq!(answer.unwrap_err().fault, Fault::Busy);
    scripts.run(connection(99), good(), &event).await.unwrap();
}

/// What takes longer than a quick one may begins anew where there is time for it, and its
/// connection goes along.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_overstays_begins_anew_among_the_others() {
    let (scripts, _) = scripts(2);
    prove(&scripts, connection(0)).await;
    let given = Arc::new(Mutex::new(Vec::new()));
    let noted = given.clone();
    let work: Work = Arc::new(move |most| {
        noted.lock().unwrap().push(most);
        match most {
            QUICK => Err(Fault::Time(QUICK).into()),
            _ => done(),
        }
    });
    for _ in 0..2 {
        scripts.submit(connection(0), good(), work.clone()).await.unwrap();
    }
    assert_eq!(*given.lock().unwrap(), [QUICK, Duration::MAX, Duration::MAX]);

    // The same with a script.
    let event = samples::event();
    prove(&scripts, connection(1)).await;
    let endless = script("function transform() { for (;;); }");
    let answer = scripts.run(connection(1), endless, &event).await.unwrap_err();
    let full = ferryhook_core::transform::limits::SCRIPT_TIME;
    assert_eq!(answer.fault, Fault::Time(full), "it had all the time that a script has");
}

/// Nor does it keep others waiting while it does not even look at the clock.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_look_at_the_clock_has_another_in_its_place_soon() {
    let (scripts, clock) = scripts(2);
    let event = samples::event();
    prove(&scripts, connection(0)).await;
    prove(&scripts, connection(1)).await;
    let (work, begun, end) = held();
    let mut job = Box::pin(scripts.submit(connection(0), good(), work));
    assert!(futures_util::poll!(&mut job).is_pending());
    begun.recv().unwrap();
    clock.advance(QUICK_OVERDUE * 2);
    scripts.0.0.look_now();
    for _ in 0..10 {
        scripts.run(connection(1), good(), &event).await.unwrap();
    }
    assert_eq!(scripts.0.0.counts(), (2, 1));
    // Perhaps the machine was busy with something else, and it comes to its end after all.
    assert!(futures_util::poll!(&mut job).is_pending());
    drop(end);
    job.await.unwrap();
    while scripts.0.0.counts() != (2, 0) {
        tokio::task::yield_now().await;
    }
}

/// Each rest is twice as long as the one before, up to an hour.
#[tokio::test(flavor = "multi_thread")]
async fn rests_grow() {
    let (scripts, clock) = scripts(2);
    let (transform, event) = (good(), samples::event());
    let second = Duration::from_secs(1);
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
        drop(lose(&scripts, &clock, connection(0), transform.clone()).await.unwrap());
        while scripts.0.0.counts().1 > 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(REST * minutes - second);
        let early = scripts.run(connection(0), transform.clone(), &event).await;
        assert_eq!(early.unwrap_err().fault, Fault::Resting, "{minutes}");
        clock.advance(second);
    }
    // One that has behaved for long begins anew.
    clock.advance(REST_MAX);
    drop(lose(&scripts, &clock, connection(0), transform.clone()).await.unwrap());
    clock.advance(REST);
    scripts.run(connection(0), transform, &event).await.unwrap();
}

/// Changing a script again and again does not give it more threads to lose.
#[tokio::test(flavor = "multi_thread")]
async fn one_connection_loses_few_threads() {
    let (scripts, clock) = scripts(2);
    let mut ends = Vec::new();
    for _ in 0..STUCK_PER_CONNECTION_MAX {
        ends.push(lose(&scripts, &clock, connection(0), good()).await.unwrap());
    }
    let more = lose(&scripts, &clock, connection(0), good()).await;
    assert_eq!(more.unwrap_err(), Fault::Resting);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_an_answer() {
    let (scripts, _) = scripts(2);
    for n in 0..10 {
        let answer =
            scripts.submit(connection(n), good(), Arc::new(|_| panic!("on purpose"))).await;
        assert_eq!(answer.unwrap_err().fault, Fault::Broken);
    }
    scripts.run(connection(0), good(), &samples::event()).await.unwrap();
    assert_eq!(scripts.0.0.counts(), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_bounded_and_turned_away_at_the_end() {
    let (scripts, _) = scripts(2);
    prove(&scripts, connection(1)).await;
    let (work, begun, end) = held();
    let mut first = Box::pin(scripts.submit(connection(0), good(), work));
    assert!(futures_util::poll!(&mut first).is_pending());
    begun.recv().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let transform = good();
    let mut waiting = Vec::new();
    for _ in 0..WAITING_PER_CONNECTION_MAX {
        let ran = ran.clone();
        let count = Arc::new(move |_| {
            ran.fetch_add(1, Ordering::Relaxed);
            done()
        });
        let mut job = Box::pin(scripts.submit(connection(0), transform.clone(), count));
        assert!(futures_util::poll!(&mut job).is_pending());
        waiting.push(job);
    }
    let more = scripts.submit(connection(0), good(), Arc::new(|_| done())).await;
    assert_eq!(more.unwrap_err().fault, Fault::Busy);
    // Nobody waits for this one any more, so it is not run.
    drop(waiting.pop());
    scripts.run(connection(1), good(), &samples::event()).await.unwrap();

    scripts.stop();
    for job in waiting {
        assert_eq!(job.await.unwrap_err().fault, Fault::Stopping);
    }
    let late = scripts.run(connection(1), good(), &samples::event()).await;
    assert_eq!(late.unwrap_err().fault, Fault::Stopping);
    drop(end);
    // What ran comes to its end.
    first.await.unwrap();
    while scripts.0.0.counts().0 > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}

/// A thread begins at the priority of the one that starts it, and whoever asks may stand back.
#[cfg(target_os = "linux")]
#[test]
fn quick_threads_stand_back_for_nobody_whoever_asks() {
    use rustix::process::getpriority_process;
    use rustix::thread::gettid;

    let (scripts, _) = scripts(3);
    let usual = getpriority_process(Some(gettid())).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let work: Work = Arc::new(move |_| {
        let name = std::thread::current().name().map(str::to_owned);
        sees.lock().unwrap().push((name, getpriority_process(Some(gettid())).unwrap()));
        done()
    });
    let asking = std::thread::spawn(move || {
        crate::priority::Thread::own().stand_back();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            prove(&scripts, connection(0)).await;
            scripts.submit(connection(0), good(), work).await
        })
    });
    asking.join().unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), [(Some("scripts-quick".to_owned()), usual)]);
}
