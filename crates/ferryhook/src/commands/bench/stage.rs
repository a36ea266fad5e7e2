//! Everyone who plays a part in the measurements: sink, floors, and a Ferryhook on a fresh
//! directory.

use std::sync::Arc;

use anyhow::Context;
use ferryhook_core::Env;

use super::child::Server;
use super::load::{Load, Numbers, Sent, Until};
use super::scratch::Scratch;
use super::setup::{self, Doors};
use super::sink::{Received, Sink};

const FILLING_CONNECTIONS: usize = 128;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Http,
    Ingest,
    Relay,
    Whole,
}

impl Part {
    /// What is compared stands side by side.
    pub const ALL: [Self; 4] = [Self::Http, Self::Ingest, Self::Relay, Self::Whole];

    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "bare HTTP",
            Self::Ingest => "Ferryhook ingest",
            Self::Relay => "bare relay",
            Self::Whole => "Ferryhook end to end",
        }
    }
}

pub struct Stage {
    env: Env,
    numbers: Numbers,
    sink: Sink,
    http: Server,
    relay: Server,
    ferryhook: Server,
    doors: Doors,
    /// The one door of a floor.
    root: Arc<[String]>,
    /// What went wrong, in words.
    pub failures: Vec<String>,
}

impl Stage {
    pub async fn set(sources: usize, scratch: &Scratch, env: &Env) -> anyhow::Result<Self> {
        let sink = Sink::open(env).await.context("cannot open the sink")?;
        let directory = scratch.path();
        // Names of their own, so that a second pass does not find the files of the first.
        let name = format!("{sources}-sources");
        let (data, journal) = (directory.join(&name), directory.join(format!("{name}.journal")));
        eprintln!("setting up {sources} sources");
        let doors = setup::configure(&data, sink.address, sources, env).await?;

        let http = Server::start(&["bench-floor", "http"], directory)?;
        let forward = format!("http://{}/", sink.address);
        let relay = ["bench-floor", "relay", "--forward", &forward, "--file"].map(AsRef::as_ref);
        let relay = [relay.as_slice(), &[journal.as_os_str()]].concat();
        let relay = Server::start(&relay, directory)?;
        let serve = ["serve", LISTEN, ALLOW, "--log=warn", "--data"].map(AsRef::as_ref);
        let serve = [serve.as_slice(), &[data.as_os_str()]].concat();
        let ferryhook = Server::start(&serve, directory)?;
        Ok(Self {
            env: env.clone(),
            numbers: Numbers::default(),
            sink,
            http,
            relay,
            ferryhook,
            doors,
            root: ["/".to_owned()].into(),
            failures: Vec::new(),
        })
    }

    /// Has so many events go the whole way before anything is measured.
    pub async fn fill(&mut self, stored: u32) -> anyhow::Result<()> {
        if stored == 0 {
            return Ok(());
        }
        eprintln!("storing {stored} events");
        let mut load = self.load(Part::Whole, FILLING_CONNECTIONS).await?;
        let sent = load.press(Until::Count(stored)).await?;
        let received = self.sink.wait_for(&sent).await;
        self.complain("storing", &sent, Some(&received));
        self.ferryhook.settle().await;
        Ok(())
    }

    pub fn server(&self, part: Part) -> &Server {
        match part {
            Part::Http => &self.http,
            Part::Relay => &self.relay,
            Part::Ingest | Part::Whole => &self.ferryhook,
        }
    }

    pub async fn load(&self, part: Part, connections: usize) -> anyhow::Result<Load> {
        let paths = match part {
            Part::Http | Part::Relay => &self.root,
            Part::Ingest => &self.doors.kept,
            Part::Whole => &self.doors.delivered,
        };
        let address = self.server(part).address;
        Load::open(address, paths, connections, &self.numbers, &self.env).await
    }

    /// Waits for what was sent to arrive, where it is to arrive anywhere.
    pub async fn received(&self, part: Part, sent: &Sent) -> Option<Received> {
        match part {
            Part::Relay | Part::Whole => Some(self.sink.wait_for(sent).await),
            Part::Http | Part::Ingest => None,
        }
    }

    /// A figure that hides a failure is worth nothing.
    pub fn complain(&mut self, name: &str, sent: &Sent, received: Option<&Received>) {
        for (what, times) in &sent.failures {
            self.failures.push(format!("{name}: {what}, {times} times"));
        }
        let (lost, strange) = received.map_or((0, 0), |all| (all.lost(), all.strange));
        if lost > 0 {
            self.failures.push(format!("{name}: {lost} events acknowledged but not delivered"));
        }
        if strange > 0 {
            self.failures.push(format!("{name}: {strange} deliveries were not what was sent"));
        }
    }
}

const LISTEN: &str = "--listen=127.0.0.1:0";
const ALLOW: &str = "--destination-allow=127.0.0.0/8";
