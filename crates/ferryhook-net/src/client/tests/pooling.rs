//! Connections are used again while they are good, and a call does not suffer from one that has
//! gone bad.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::Notify;

use super::*;

const CLOSING: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";

/// Answers one request and, instead of answering the next, does `then`. Later connections are
/// answered as `OK`.
async fn once_then<F>(then: impl Fn(Visit) -> F + Clone + Send + Sync + 'static) -> Receiver
where
    F: Future<Output = ()> + Send + 'static,
{
    Receiver::start(move |mut visit| {
        let then = then.clone();
        async move {
            if visit.number == 1 {
                visit.request().await;
                visit.say(OK).await;
                visit.request().await;
                then(visit).await;
            } else {
                while visit.request().await {
                    visit.say(OK).await;
                }
            }
        }
    })
    .await
}

#[tokio::test]
async fn the_next_call_takes_the_same_connection() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    for _ in 0..5 {
        assert_eq!(client.send(post(&receiver.url())).await.unwrap().body, "ok");
    }
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 5));
}

#[tokio::test]
async fn calls_at_the_same_time_have_a_connection_each_and_keep_them() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    let calls = || (0..20).map(|_| client.send(post(&receiver.url())));
    let replies = futures_util::future::join_all(calls()).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(receiver.connections(), 20);
    let replies = futures_util::future::join_all(calls()).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!((receiver.connections(), client.pool.count()), (20, 20));
}

/// The runtime lets a task do only so much in one turn. However little is left of a turn when
/// the answer comes, the call finds it.
#[tokio::test]
async fn a_call_does_not_miss_its_answer_at_the_end_of_a_turn() {
    const TURN: usize = 128;
    let receiver = Receiver::answering(OK).await;
    let client = client();
    for left in 1..40 {
        let mut call = client.send(post(&receiver.url()));
        let reply = poll_fn(|cx| {
            for _ in left..TURN {
                let Poll::Ready(unit) = tokio::task::coop::poll_proceed(cx) else { break };
                unit.made_progress();
            }
            call.as_mut().poll(cx)
        });
        assert_eq!(reply.await.unwrap().status, 200, "{left} left");
    }
    assert_eq!(receiver.connections(), 1);
}

/// Same address, other name: another destination, as far as we can know.
#[tokio::test]
async fn connections_are_not_shared_between_origins() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    let port = receiver.address.port();
    for host in ["127.0.0.1", "localhost", "a.localhost"] {
        client.send(post(&format!("http://{host}:{port}/"))).await.unwrap();
    }
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn a_connection_that_is_announced_to_close_is_not_kept() {
    let receiver = Receiver::answering(CLOSING).await;
    let client = client();
    for _ in 0..2 {
        client.send(post(&receiver.url())).await.unwrap();
    }
    assert_eq!((receiver.connections(), client.pool.count()), (2, 0));
}

/// Whoever needs the whole of an answer gets it, and not a byte more than was asked for.
#[tokio::test]
async fn a_client_keeps_as_much_as_it_is_told() {
    const TOLD: usize = 3 * limits::BODY_BYTES_READ;
    for (length, connections) in [(TOLD - 1, 1), (TOLD, 1), (2 * TOLD, 2)] {
        let receiver = Receiver::start(move |mut visit| async move {
            while visit.request().await {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                visit.say(head.as_bytes()).await;
                visit.say(&vec![b'x'; length]).await;
            }
        })
        .await;
        let client = client().keeping(TOLD);
        for _ in 0..2 {
            let reply = client.send(post(&receiver.url())).await.unwrap();
            assert_eq!(reply.body.len(), length.min(TOLD));
        }
        assert_eq!(receiver.connections(), connections, "{length} bytes");
    }
}

#[tokio::test]
async fn a_body_up_to_the_bound_keeps_the_connection_and_a_larger_one_does_not() {
    for (length, connections) in
        [(limits::BODY_BYTES_READ, 1), (limits::BODY_BYTES_READ + 1, 2), (4 << 20, 2)]
    {
        let receiver = Receiver::start(move |mut visit| async move {
            while visit.request().await {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                visit.say(head.as_bytes()).await;
                visit.say(&vec![b'x'; length]).await;
            }
        })
        .await;
        let client = client();
        for _ in 0..2 {
            let reply = client.send(post(&receiver.url())).await.unwrap();
            assert_eq!(reply.body, vec![b'x'; limits::BODY_BYTES_KEPT]);
        }
        assert_eq!(receiver.connections(), connections, "{length} bytes");
    }
}

#[tokio::test]
async fn a_connection_rests_only_so_long() {
    let receiver = Receiver::answering(OK).await;
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let client = client_of(&env);
    client.send(post(&receiver.url())).await.unwrap();
    clock.advance(limits::IDLE - Duration::from_nanos(1));
    client.send(post(&receiver.url())).await.unwrap();
    assert_eq!(receiver.connections(), 1);
    clock.advance(limits::IDLE);
    client.send(post(&receiver.url())).await.unwrap();
    assert_eq!(receiver.connections(), 2);
}

/// The receiver hung up while the connection rested. Whether we have heard of it or not, the
/// call arrives.
#[tokio::test]
async fn a_connection_closed_at_rest_does_not_fail_the_call() {
    let receiver = Receiver::start(async |mut visit| {
        visit.request().await;
        visit.say(OK).await;
    })
    .await;
    let client = client();
    for _ in 0..20 {
        assert_eq!(client.send(post(&receiver.url())).await.unwrap().status, 200);
    }
    assert_eq!(receiver.requests().len(), 20);
}

/// The race itself: the request is read to its end, and then the connection is closed.
#[tokio::test]
async fn a_call_that_meets_a_closing_connection_is_sent_again() {
    let receiver = once_then(async |_| {}).await;
    let client = client();
    for _ in 0..2 {
        assert_eq!(client.send(post(&receiver.url())).await.unwrap().status, 200);
    }
    assert_eq!((receiver.connections(), receiver.requests().len()), (2, 3));
    assert_eq!(receiver.requests()[1], receiver.requests()[2]);
}

#[tokio::test]
async fn a_reset_counts_as_closing() {
    let receiver = once_then(async |visit| visit.stream.set_zero_linger().unwrap()).await;
    let client = client();
    for _ in 0..2 {
        assert_eq!(client.send(post(&receiver.url())).await.unwrap().status, 200);
    }
    assert_eq!((receiver.connections(), receiver.requests().len()), (2, 3));
}

/// Once a byte has come back the receiver has taken the request: it is not ours to repeat.
#[tokio::test]
async fn a_call_that_was_heard_is_not_sent_again() {
    let receiver = once_then(async |mut visit| {
        visit.say(b"H").await;
    })
    .await;
    let client = client();
    client.send(post(&receiver.url())).await.unwrap();
    let unsent = client.send(post(&receiver.url())).await.unwrap_err();
    assert_eq!(unsent.why, Why::Broken);
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 2));
}

#[tokio::test]
async fn a_deadline_on_a_rested_connection_is_not_followed_by_another_try() {
    let receiver = once_then(async |mut visit| visit.wait().await).await;
    let client = client();
    client.send(post(&receiver.url())).await.unwrap();
    let unsent =
        client.send(Outgoing { timeout: SHORT, ..post(&receiver.url()) }).await.unwrap_err();
    assert_eq!(unsent.why, Why::Timeout);
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 2));
}

#[tokio::test]
async fn a_call_is_sent_again_only_once() {
    let receiver = Receiver::start(async |mut visit| {
        visit.request().await;
        if visit.number == 1 {
            visit.say(OK).await;
            visit.request().await;
        }
    })
    .await;
    let client = client();
    client.send(post(&receiver.url())).await.unwrap();
    let unsent = client.send(post(&receiver.url())).await.unwrap_err();
    assert_eq!(unsent.message, "the destination closed the connection without an answer");
    assert_eq!((receiver.connections(), receiver.requests().len()), (2, 3));
}

/// Whoever speaks unasked has mixed up its answers; the next one might be meant for another.
#[tokio::test]
async fn a_connection_that_speaks_unasked_is_not_used_again() {
    let spoke = Arc::new(Notify::new());
    let speaks = spoke.clone();
    let receiver = Receiver::start(move |mut visit| {
        let speaks = speaks.clone();
        async move {
            visit.request().await;
            visit.say(OK).await;
            speaks.notified().await;
            visit.say(b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n").await;
            speaks.notify_one();
            while visit.request().await {
                visit.say(OK).await;
            }
        }
    })
    .await;
    let client = client();
    client.send(post(&receiver.url())).await.unwrap();
    spoke.notify_one();
    spoke.notified().await;
    // The bytes are on their way through the loopback; the line notices when they are there.
    let ends = pool::Ends::of(&post(&receiver.url()));
    let mut line = client.pool.take(&ends, client.env.elapsed());
    let line = line.as_mut().unwrap();
    poll_fn(|cx| if line.looks_good(cx) { Poll::Pending } else { Poll::Ready(()) }).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_its_connection_along() {
    let gone = Arc::new(Notify::new());
    let tells = gone.clone();
    let receiver = Receiver::start(move |mut visit| {
        let tells = tells.clone();
        async move {
            visit.request().await;
            tells.notify_one();
            visit.wait().await;
            tells.notify_one();
        }
    })
    .await;
    let client = client();
    tokio::select! {
        _ = client.send(post(&receiver.url())) => unreachable!("nobody answers"),
        () = gone.notified() => {}
    }
    gone.notified().await;
    assert_eq!(client.pool.count(), 0);
}

/// The guard is asked about the peer of a rested connection, not only of a new one.
#[tokio::test]
async fn a_rested_connection_is_guarded_too() {
    let receiver = Receiver::answering(OK).await;
    let lax = client();
    lax.send(post(&receiver.url())).await.unwrap();
    let strict = Client { guard: Guard::new(Vec::new()), ..lax.clone() };
    let call = post(&receiver.url());
    let rested = strict.rested_line(&call.target, &pool::Ends::of(&call), Duration::ZERO).await;
    assert!(rested.is_none());
    assert_eq!(strict.pool.count(), 0);
}

/// Whoever may go first does not wait for the threads that another one's lines belong to.
#[test]
fn runtimes_share_no_connections() {
    let [first, second] = [(); 2]
        .map(|()| tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    let ends = |runtime: &tokio::runtime::Runtime| {
        runtime.block_on(async { pool::Ends::of(&post("http://127.0.0.1:9/")) })
    };
    assert_eq!(ends(&first), ends(&first));
    assert_ne!(ends(&first), ends(&second));
}
