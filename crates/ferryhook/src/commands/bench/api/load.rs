//! The load: requests that fall due at an even pace, whatever the answers do.
//!
//! A request counts from the moment it was due, not from when a connection was free to send it: a
//! server that stalls makes all of those late that would have come meanwhile, and they count.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::mix::{Ask, Mix, Operation};
use crate::commands::bench::http::{self, Wire};

/// Connections that are kept, and so the most requests that are under way at a time.
pub const LINES: usize = 64;
/// A request that is not answered in this time has failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// Nobody learns more from a server that fails this often.
const FAILURES_MAX: u32 = 1000;

/// What became of one request.
#[derive(Debug, Clone)]
pub struct Answered {
    pub operation: Operation,
    /// From when it was due.
    pub took: Duration,
    /// What was wrong with the answer, if anything was.
    pub failure: Option<String>,
}

/// Open connections to the server.
#[derive(Debug)]
pub struct Load {
    lines: Vec<Line>,
    rate: u32,
    mix: Arc<Mix>,
    env: Env,
    /// Goes on over the rounds, so that they have different requests.
    turn: u32,
}

/// What the lines of one round share.
#[derive(Debug)]
struct Round {
    first: u32,
    count: u32,
    /// Has a permit for each request that has fallen due and that nobody has taken.
    due: Semaphore,
    taken: AtomicU32,
    failed: AtomicU32,
}

impl Load {
    pub async fn open(
        address: SocketAddr,
        rate: u32,
        mix: Arc<Mix>,
        env: &Env,
    ) -> anyhow::Result<Self> {
        let mut lines = Vec::with_capacity(LINES);
        for _ in 0..LINES {
            let wire = Wire::connect(address).await.context("cannot connect to the server")?;
            lines.push(Line { wire, address, env: env.clone() });
        }
        Ok(Self { lines, rate, mix, env: env.clone(), turn: 0 })
    }

    /// So many requests, one after the other due.
    pub async fn offer(
        &mut self,
        count: u32,
        ask: fn(&Mix, u32) -> Ask,
    ) -> anyhow::Result<Vec<Answered>> {
        let round = Arc::new(Round {
            first: self.turn,
            count,
            due: Semaphore::new(0),
            taken: AtomicU32::new(0),
            failed: AtomicU32::new(0),
        });
        self.turn = self.turn.wrapping_add(count);
        let (began, rate) = (self.env.elapsed(), self.rate);
        let due_at = move |turn: u32| began + Duration::from_secs(1) * turn / rate;
        let pacing = {
            let (round, env) = (round.clone(), self.env.clone());
            tokio::task::spawn_blocking(move || pace(&round, due_at, &env))
        };
        let mut working = JoinSet::new();
        for mut line in self.lines.drain(..) {
            let (round, mix) = (round.clone(), self.mix.clone());
            working.spawn(async move {
                let mut answered = Vec::new();
                while let Some(turn) = round.take().await {
                    let ask = ask(&mix, round.first.wrapping_add(turn));
                    let answer = line.exchange(&ask, &mix).await;
                    let took = line.env.elapsed().saturating_sub(due_at(turn));
                    let failure = answer.err();
                    round.failed.fetch_add(failure.is_some().into(), Ordering::Relaxed);
                    answered.push(Answered { operation: ask.operation, took, failure });
                }
                (line, answered)
            });
        }
        let mut all = Vec::with_capacity(count as usize);
        while let Some(done) = working.join_next().await {
            let (line, answered) = done.context("the load broke down")?;
            self.lines.push(line);
            all.extend(answered);
        }
        pacing.await.context("the pace broke down")?;
        if round.has_failed() {
            let why = all.into_iter().find_map(|one| Some((one.operation, one.failure?)));
            let (operation, why) = why.unwrap_or((Operation::Health, String::new()));
            bail!("{FAILURES_MAX} requests have failed, the first of them {operation}: {why}");
        }
        Ok(all)
    }
}

impl Round {
    /// Waits for the next request to fall due; nothing when all have.
    async fn take(&self) -> Option<u32> {
        self.due.acquire().await.ok()?.forget();
        let turn = self.taken.fetch_add(1, Ordering::Relaxed);
        (turn < self.count && !self.has_failed()).then_some(turn)
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) >= FAILURES_MAX
    }
}

/// On a thread of its own: the timers of the runtime are as coarse as what is measured.
fn pace(round: &Round, due_at: impl Fn(u32) -> Duration, env: &Env) {
    for turn in 0..round.count {
        std::thread::sleep(due_at(turn).saturating_sub(env.elapsed()));
        if round.has_failed() {
            break;
        }
        round.due.add_permits(1);
    }
    round.due.add_permits(LINES); // each line finds that it is over
}

#[derive(Debug)]
struct Line {
    wire: Wire,
    address: SocketAddr,
    env: Env,
}

impl Line {
    /// What was wrong is the error; after a broken connection the next request has a new one.
    async fn exchange(&mut self, ask: &Ask, mix: &Mix) -> Result<(), String> {
        let answer = async {
            self.wire.send(ask.request.as_bytes()).await?;
            self.wire.receive(|head, body| ask.check(http::status(head), body, mix)).await
        };
        let broken = match timeout(PATIENCE, answer).await {
            Ok(Ok(Some(checked))) => return checked,
            Ok(Ok(None)) => "connection closed".to_owned(),
            Ok(Err(error)) => format!("connection broken: {error}"),
            Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
        };
        match Wire::connect(self.address).await {
            Ok(wire) => self.wire = wire,
            Err(error) => return Err(format!("{broken}, and cannot connect again: {error}")),
        }
        Err(broken)
    }
}
