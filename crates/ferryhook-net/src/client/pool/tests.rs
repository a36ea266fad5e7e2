//! Room, age and order, with lines to a listener that never answers.

use std::net::Ipv4Addr;

use tokio::net::{TcpListener, TcpStream};

use super::super::wire::Stream;
use super::*;

const ROOM: Room = Room { per_origin: 2, lines: 8, origins: 10 };

fn ends(port: u16) -> Ends {
    let origin = Arc::new(Origin { secure: false, host: "hooks.example.com".into(), port });
    Ends { origin, identity: None, runtime: None }
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Far(TcpListener);

impl Far {
    async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    /// A line, and its far end.
    async fn line(&self) -> (Box<Line>, TcpStream) {
        let stream = TcpStream::connect(self.0.local_addr().unwrap()).await.unwrap();
        let (far, _) = self.0.accept().await.unwrap();
        let env = Env::fixed("2026-01-01T00:00:00Z");
        let line = Line::open(Stream::Plain(stream), Ipv4Addr::LOCALHOST.into(), env).await;
        (Box::new(line.unwrap()), far)
    }
}

fn address(line: &Line) -> *const Line {
    line
}

#[tokio::test]
async fn the_newest_is_taken_first_and_only_by_its_own_origin() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    let ((older, _a), (newer, _b)) = (far.line().await, far.line().await);
    let (is_older, is_newer) = (address(&older), address(&newer));
    pool.put(&ends(1), older, at(0));
    pool.put(&ends(1), newer, at(1));
    assert!(pool.take(&ends(2), at(2)).is_none());
    assert_eq!(address(&pool.take(&ends(1), at(2)).unwrap()), is_newer);
    assert_eq!(address(&pool.take(&ends(1), at(2)).unwrap()), is_older);
    assert!(pool.take(&ends(1), at(2)).is_none());
    assert_eq!(pool.count(), 0);
}

#[tokio::test]
async fn an_origin_has_only_so_much_room() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    for _ in 0..5 {
        pool.put(&ends(1), far.line().await.0, at(0));
    }
    assert_eq!(pool.count(), 2);
}

#[tokio::test]
async fn those_that_rested_longest_make_room() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    for port in 0..8 {
        pool.put(&ends(port), far.line().await.0, at(port.into()));
    }
    assert_eq!(pool.count(), 8);
    pool.put(&ends(8), far.line().await.0, at(8));
    assert_eq!(pool.count(), 7); // a quarter went, one came
    for (port, rests) in [(0, false), (1, false), (2, true), (8, true)] {
        assert_eq!(pool.take(&ends(port), at(9)).is_some(), rests, "{port}");
    }
}

#[tokio::test]
async fn as_many_go_when_all_rested_equally_long() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    for port in 0..9 {
        pool.put(&ends(port), far.line().await.0, at(0));
    }
    assert_eq!(pool.count(), 7);
}

#[tokio::test]
async fn those_that_rested_too_long_go_together() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    pool.put(&ends(1), far.line().await.0, at(0));
    pool.put(&ends(1), far.line().await.0, at(1));
    assert!(pool.take(&ends(1), at(1) + limits::IDLE).is_none());
    assert_eq!(pool.count(), 0);
}

#[tokio::test]
async fn a_sweep_closes_what_is_old_or_dead() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    let (old, _old_end) = far.line().await;
    let (fresh, _fresh_end) = far.line().await;
    let (mut dead, dead_end) = far.line().await;
    drop(dead_end);
    std::future::poll_fn(|cx| match dead.looks_good(cx) {
        true => std::task::Poll::Pending,
        false => std::task::Poll::Ready(()),
    })
    .await;
    pool.put(&ends(1), old, at(0));
    pool.put(&ends(2), fresh, at(30));
    pool.put(&ends(3), dead, at(30));
    pool.sweep(at(61));
    assert_eq!(pool.count(), 1);
    assert!(pool.take(&ends(2), at(61)).is_some());
}

#[tokio::test]
async fn origins_without_a_line_are_forgotten() {
    let (pool, far) = (Pool::new(ROOM), Far::new().await);
    for port in 0..100 {
        pool.put(&ends(port), far.line().await.0, at(0));
        pool.take(&ends(port), at(0)).unwrap();
        assert!(pool.lock().by_ends.len() <= ROOM.origins);
    }
    pool.sweep(at(0));
    assert!(pool.lock().by_ends.is_empty());
}

/// The clock runs ahead by itself; the pool is the only one who could close the line.
#[tokio::test(start_paused = true)]
async fn sweeping_goes_on_for_as_long_as_the_pool_lives() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (pool, far, tasks) = (Arc::new(Pool::new(ROOM)), Far::new().await, Tasks::new());
    let (line, _end) = far.line().await;
    pool.put(&ends(1), line, at(0));
    pool.keep_swept(&env, &tasks);
    pool.keep_swept(&env, &tasks);
    clock.advance(limits::IDLE);
    sleep(limits::SWEEP_EVERY + at(1)).await;
    assert_eq!(pool.count(), 0);
    drop(pool);
    assert_eq!(tasks.finish(at(1)).await, 0);
}
