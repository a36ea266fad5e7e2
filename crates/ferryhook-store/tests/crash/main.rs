//! The embedded engine under SIGKILL: what was acknowledged is there again, whole.
//!
//! The test runs itself as a child that commits from many tasks and says on its standard output
//! what was acknowledged ([`child`]). The parent hears it ([`model`]), kills the child at a moment
//! that the seed decides, sometimes ruins the log's unsynced tail ([`tail`]), opens the directory
//! and looks ([`check`]). `FERRYHOOK_CRASH_KILLS` says how often, `FERRYHOOK_CRASH_SEED` repeats a
//! run's decisions; what the child's threads make of them is up to the machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::env::{ManualClock, SeededEntropy};
use ferryhook_core::{Env, Timestamp};
use ferryhook_store::engine::embedded::Embedded;

mod cargo;
mod check;
mod child;
mod dice;
mod model;
mod tail;

use child::Orders;
use dice::Dice;
use model::Model;

const KILLS: u64 = 32;
/// A directory lives through this many kills; then a new one is begun.
const KILLS_OF_ONE: u64 = 8;
const FIRST_STARTS: u64 = 24;
const START: i64 = 1_767_225_600;
/// However slow the machine, the child gets this far.
const PATIENCE: Duration = Duration::from_secs(60);
const KILL: i32 = 9;

#[test]
fn acknowledged_commits_survive_being_killed() {
    let kills = number("FERRYHOOK_CRASH_KILLS").unwrap_or(KILLS);
    let mut dice = Dice(seed());
    let mut done = 0;
    while done < kills {
        let mut life = Life::begin(Dice(dice.next()));
        for _ in 0..KILLS_OF_ONE.min(kills - done) {
            life.kill_and_look();
            done += 1;
            println!("{done} kills of {kills}, {}", life.summary());
        }
    }
}

/// There is no moment in which a new directory can be left so that nobody can use it.
#[test]
fn a_first_start_may_be_killed_at_any_moment() {
    let mut dice = Dice(seed());
    for _ in 0..FIRST_STARTS {
        let mut life = Life::begin(Dice(dice.next()));
        life.kill_at(&Moment::After(Duration::from_micros(dice.roll(40_000))));
        life.look();
    }
}

#[test]
#[ignore = "the other tests run it as the process to kill"]
fn the_child() {
    if let Some(orders) = Orders::read() {
        child::run(&orders);
    }
}

fn seed() -> u64 {
    let seed = number("FERRYHOOK_CRASH_SEED").unwrap_or_else(|| {
        let mut seed = [0; 8];
        Env::system().fill(&mut seed);
        u64::from_le_bytes(seed)
    });
    println!("FERRYHOOK_CRASH_SEED={seed}");
    seed
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// When to kill.
#[derive(Debug)]
enum Moment {
    /// Once this many lines were heard.
    Lines(usize),
    /// After this long, wherever it is then: while it starts, opens and recovers.
    After(Duration),
}

/// One directory and all that is known of it.
struct Life {
    dice: Dice,
    place: tempfile::TempDir,
    model: Model,
}

impl Life {
    fn begin(dice: Dice) -> Self {
        let place = tempfile::tempdir().unwrap();
        Self { dice, place, model: Model::new(START) }
    }

    fn directory(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn summary(&self) -> String {
        let accepted = self.model.events.values().filter(|known| known.accepted).count();
        let segments = std::fs::read_dir(self.directory().join("log")).unwrap();
        let mut segments: Vec<_> = segments.map(|entry| entry.unwrap().file_name()).collect();
        segments.sort();
        let (count, last) = (segments.len(), segments.last());
        format!("{accepted} events acknowledged; {count} segments up to {last:?}")
    }

    /// Kills a child once or several times in a row, then opens the directory and looks.
    fn kill_and_look(&mut self) {
        let mut again = true;
        while again {
            let moment = match self.dice.roll(10) {
                0..=5 => Moment::Lines(self.dice.roll(2000) as usize),
                6 => Moment::Lines(self.dice.roll(30) as usize),
                _ => Moment::After(Duration::from_micros(self.dice.roll(60_000))),
            };
            again = matches!(moment, Moment::After(_)) && self.dice.roll(2) == 0;
            self.kill_at(&moment);
            if self.dice.roll(3) == 0 {
                println!("  {}", tail::tear(&self.directory(), &mut self.dice));
            }
        }
        self.look();
    }

    fn kill_at(&mut self, moment: &Moment) {
        println!("  to be killed: {moment:?}");
        let mut child = self.start();
        let (enough, told) = mpsc::channel();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stop = match moment {
            Moment::Lines(count) => *count,
            Moment::After(_) => usize::MAX,
        };
        let listener = {
            let heard = heard.clone();
            std::thread::spawn(move || {
                for line in lines.map_while(Result::ok) {
                    // The test harness of the child has its own lines, and one before ours.
                    let Some((_, line)) = line.split_once('@') else { continue };
                    let mut heard = heard.lock().unwrap();
                    heard.push(line.to_owned());
                    if heard.len() > stop {
                        let _ = enough.send(());
                    }
                }
            })
        };
        let patience = match moment {
            Moment::Lines(_) => PATIENCE,
            Moment::After(time) => *time,
        };
        let waited = told.recv_timeout(patience);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        listener.join().unwrap();
        assert_eq!(status.signal(), Some(KILL), "the child ended by itself: {status}");
        let late = matches!(moment, Moment::Lines(_)) && waited.is_err();
        assert!(!late, "the child stood still");
        for line in heard.lock().unwrap().iter() {
            self.model.hear(line);
        }
    }

    fn start(&mut self) -> Child {
        let own = std::env::current_exe().unwrap();
        Command::new(own)
            .args(["--ignored", "--exact", "the_child", "--nocapture"])
            .env(Orders::DIRECTORY, self.directory())
            .env(Orders::SEED, (self.dice.next() >> 1).to_string())
            .env(Orders::NOW, self.model.now.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn look(&mut self) {
        let clock = Arc::new(ManualClock::new(Timestamp::from_seconds(self.model.now)));
        let env = Env::new(clock, Arc::new(SeededEntropy::new(0)));
        let sweep = self.dice.roll(3) == 0;
        let (directory, model) = (self.directory(), &self.model);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let engine = open(&directory, &env);
            check::check(&engine, model).await;
            if sweep {
                engine.sweep().await.unwrap();
                check::check(&engine, model).await;
                drop(engine);
                check::check(&open(&directory, &env), model).await;
            }
        });
    }
}

fn open(directory: &Path, env: &Env) -> Embedded {
    Embedded::open(cargo::config(directory), env.clone())
        .unwrap_or_else(|error| panic!("the directory does not open again: {error}"))
}
