//! The load: connections that are kept, each sending its next letter when the last is answered.
//!
//! It runs in the benchmark's own process, so that the server's CPU, memory and bytes are the
//! server's alone. It keeps what was answered and when; judging is done afterwards.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::http::{self, Wire};
use super::letter::Letter;

/// As long as anything goes on, however slowly, the load waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server that refuses everything is asked no more than this by each connection.
const FAILURES_MAX: usize = 1000;

/// Numbers letters: each one once in the life of a sink.
#[derive(Debug, Clone, Default)]
pub struct Numbers(Arc<AtomicU32>);

impl Numbers {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn so_far(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// When enough has been sent.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    Time(Duration),
    Count(u32),
}

/// What came of it. All times are those of [`Env::elapsed`].
#[derive(Debug, Default)]
pub struct Sent {
    pub began: Duration,
    pub ended: Duration,
    pub answered: Vec<Answered>,
    /// What happened instead of a 200, and how often.
    pub failures: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy)]
pub struct Answered {
    pub number: u32,
    pub sent_at: Duration,
    pub answered_at: Duration,
}

/// Open connections to one server.
#[derive(Debug)]
pub struct Load {
    lines: Vec<Line>,
    numbers: Numbers,
    env: Env,
}

impl Load {
    /// Letters go to the paths in turn; all paths are of the same length.
    pub async fn open(
        address: SocketAddr,
        paths: &Arc<[String]>,
        connections: usize,
        numbers: &Numbers,
        env: &Env,
    ) -> anyhow::Result<Self> {
        let first = paths.first().context("a load needs somewhere to go")?;
        let mut lines = Vec::with_capacity(connections);
        for _ in 0..connections {
            let wire = Wire::connect(address).await.context("cannot connect to the server")?;
            let (paths, letter) = (paths.clone(), Letter::new(first));
            lines.push(Line { wire, address, paths, letter, env: env.clone() });
        }
        Ok(Self { lines, numbers: numbers.clone(), env: env.clone() })
    }

    /// As fast as the answers come.
    pub async fn press(&mut self, until: Until) -> anyhow::Result<Sent> {
        let numbers = self.numbers.clone();
        let (ends_at, end) = match until {
            Until::Time(time) => (self.env.elapsed() + time, u32::MAX),
            Until::Count(count) => (Duration::MAX, numbers.so_far().saturating_add(count)),
        };
        self.run(move |_, mut line| {
            let numbers = numbers.clone();
            async move {
                let mut sent = Sent::default();
                while line.env.elapsed() < ends_at && sent.failures_few() {
                    let number = numbers.next();
                    if number >= end {
                        break;
                    }
                    line.exchange(number, &mut sent).await;
                }
                (line, sent)
            }
        })
        .await
    }

    /// This many in a second, evenly, whatever the answers do.
    pub async fn pace(&mut self, per_second: u32, time: Duration) -> anyhow::Result<Sent> {
        let numbers = self.numbers.clone();
        let (began, lines) = (self.env.elapsed(), self.lines.len());
        let count = (time.as_secs_f64() * f64::from(per_second)) as u32;
        self.run(move |first, mut line| {
            let numbers = numbers.clone();
            async move {
                let mut sent = Sent::default();
                for turn in (first as u32..count).step_by(lines) {
                    let due = began + Duration::from_secs(1) * turn / per_second;
                    sleep(due.saturating_sub(line.env.elapsed())).await;
                    line.exchange(numbers.next(), &mut sent).await;
                }
                (line, sent)
            }
        })
        .await
    }

    /// All lines at the same time; they come back for the next run.
    async fn run<F>(&mut self, work: impl Fn(usize, Line) -> F) -> anyhow::Result<Sent>
    where
        F: Future<Output = (Line, Sent)> + Send + 'static,
    {
        let began = self.env.elapsed();
        let mut working = JoinSet::new();
        for (place, line) in self.lines.drain(..).enumerate() {
            working.spawn(work(place, line));
        }
        let mut all = Sent { began, ..Sent::default() };
        let mut seen = self.numbers.so_far();
        while !working.is_empty() {
            let done = tokio::time::timeout(PATIENCE, working.join_next()).await;
            match done {
                Ok(Some(done)) => {
                    let (line, sent) = done.context("the load broke down")?;
                    self.lines.push(line);
                    all.add(sent);
                }
                Ok(None) => break,
                Err(_) if self.numbers.so_far() == seen => {
                    bail!("the server has not answered for {} s", PATIENCE.as_secs());
                }
                Err(_) => seen = self.numbers.so_far(),
            }
        }
        all.ended = self.env.elapsed();
        Ok(all)
    }
}

impl Sent {
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    fn failures_few(&self) -> bool {
        (self.failed() as usize) < FAILURES_MAX
    }

    fn fail(&mut self, what: String) {
        *self.failures.entry(what).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        self.answered.extend(other.answered);
        for (what, times) in other.failures {
            *self.failures.entry(what).or_default() += times;
        }
    }
}

#[derive(Debug)]
struct Line {
    wire: Wire,
    address: SocketAddr,
    paths: Arc<[String]>,
    letter: Letter,
    env: Env,
}

impl Line {
    async fn exchange(&mut self, number: u32, sent: &mut Sent) {
        let path = &self.paths[number as usize % self.paths.len()];
        let letter = self.letter.write(path, number);
        let sent_at = self.env.elapsed();
        let status = async {
            self.wire.send(letter).await?;
            self.wire.receive(|head, _| http::status(head)).await
        };
        match status.await {
            Ok(Some(Some(200))) => {
                let answered_at = self.env.elapsed();
                sent.answered.push(Answered { number, sent_at, answered_at });
            }
            Ok(Some(Some(other))) => sent.fail(format!("answered {other}")),
            Ok(Some(None)) => sent.fail("not an HTTP answer".to_owned()),
            Ok(None) => self.again("connection closed".to_owned(), sent).await,
            Err(error) => self.again(format!("connection broken: {error}"), sent).await,
        }
    }

    async fn again(&mut self, why: String, sent: &mut Sent) {
        sent.fail(why);
        match Wire::connect(self.address).await {
            Ok(wire) => self.wire = wire,
            // The next letter fails as well and says so.
            Err(error) => sent.fail(format!("cannot connect: {error}")),
        }
    }
}
