//! Workers that lease and acknowledge until nothing is left.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use ferryhook_core::Env;
use serde_json::json;
use tokio::task::JoinSet;

use super::answers::{Leases, Replies};
use crate::commands::bench::line::Line;

/// What all of them did.
#[derive(Debug, Default)]
pub struct Emptied {
    pub acknowledged: usize,
    pub took: Duration,
    pub leases: Vec<Duration>,
    pub acks: Vec<Duration>,
    pub failures: Vec<String>,
}

pub async fn run(
    address: SocketAddr,
    key: &str,
    (workers, at_once): (usize, usize),
    env: &Env,
) -> anyhow::Result<Emptied> {
    let mut lines = Vec::with_capacity(workers);
    for _ in 0..workers {
        lines.push(Line::open(address, key, env).await?);
    }
    let began = env.elapsed();
    let mut working = JoinSet::new();
    for line in lines {
        working.spawn(work(line, at_once));
    }
    let mut all = Emptied::default();
    while let Some(done) = working.join_next().await {
        let done = done.context("a worker broke down")?;
        all.acknowledged += done.acknowledged;
        all.leases.extend(done.leases);
        all.acks.extend(done.acks);
        all.failures.extend(done.failures);
    }
    all.took = env.elapsed().saturating_sub(began);
    Ok(all)
}

async fn work(mut line: Line, at_once: usize) -> Emptied {
    let mut done = Emptied::default();
    loop {
        match step(&mut line, at_once, &mut done).await {
            Ok(true) => {}
            Ok(false) => return done,
            Err(error) => {
                done.failures.push(format!("a worker: {error:#}"));
                return done;
            }
        }
    }
}

/// Whether there was anything.
async fn step(line: &mut Line, at_once: usize, done: &mut Emptied) -> anyhow::Result<bool> {
    let wanted = json!({"count": at_once, "visibility": "300s"}).to_string();
    let (leased, took) = line.post::<Leases>("/v1/inbox/lease", &wanted).await?;
    if leased.data.is_empty() {
        return Ok(false);
    }
    done.leases.push(took);
    let tokens: Vec<_> = leased.data.into_iter().map(|lease| lease.token).collect();
    let said = json!({"tokens": tokens}).to_string();
    let (replies, took) = line.post::<Replies>("/v1/inbox/ack", &said).await?;
    done.acks.push(took);
    done.acknowledged += replies.data.iter().filter(|reply| reply.result == "done").count();
    Ok(true)
}
