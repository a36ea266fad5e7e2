//! A world: what outlives the program, and the program's lives in it.
//!
//! Each life is a runtime of its own with everything that a server has. A crash drops it as it
//! stands, in the middle of whatever it did; the next life begins with what the disk still has.

use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::Env;
use ferryhook_core::env::SeededEntropy;
use ferryhook_flow::scripts::Scripts;
use ferryhook_flow::{Courier, Ingest, Parts, Routes, Tally, ingest};
use ferryhook_net::Tasks;
use ferryhook_net::client::Guard;
use ferryhook_store::Store;

use crate::cast::Cast;
use crate::chance::Chance;
use crate::checks;
use crate::clock::Time;
use crate::disk::{Calm, Disk, Manner};
use crate::fleet::Fleet;
use crate::story::Story;

pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) temper: Temper,
    pub(crate) cast: Cast,
    pub(crate) disk: Arc<Disk>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) story: Story,
    time: Arc<Time>,
    pub(crate) env: Env,
    /// The operator's view of the store, which never fails.
    pub(crate) operator: Store,
    pub(crate) steps_left: u64,
    lives_left: u64,
}

/// What may go wrong in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temper {
    pub(crate) crashes: bool,
    pub(crate) store_fails: bool,
    pub(crate) replays: bool,
    /// Connections begin and cease to keep an order.
    pub(crate) reorders: bool,
    /// As where other processes work on the same store, though none does.
    pub(crate) shared: bool,
}

/// One life of the program.
pub(crate) struct Life {
    pub(crate) courier: Courier,
    pub(crate) ingest: Ingest,
    pub(crate) tasks: Tasks,
    pub(crate) senders: Tasks,
}

pub(crate) enum End {
    Crash,
    /// Stopped in good order, to be started again.
    Restart,
    /// Everything has been done and checked.
    Last,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let chance = Chance::new(seed);
        let time = Arc::new(Time::default());
        let env = Env::new(time.clone(), Arc::new(SeededEntropy::new(seed)));
        let story = Story::new(time.clone());
        let (crashes, store_fails) = match chance.of(0..10) {
            0..3 => (false, false),
            3..5 => (true, false),
            5..8 => (false, true),
            _ => (true, true),
        };
        let replays = chance.percent(40);
        let (reorders, shared) = (chance.percent(30), chance.percent(25));
        let temper = Temper { crashes, store_fails, replays, reorders, shared };
        let cast = Cast::new(&chance);
        let disk = Arc::new(Disk::new(env.clone(), chance.apart(), story.clone()));
        let dead = disk.clone();
        let fleet = Fleet::new(&cast, chance.apart(), story.clone(), move || dead.has_crashed());
        let operator = Store::new(Arc::new(Calm(disk.clone())), env.clone());
        story.tell(format_args!("{temper:?}"));
        Self {
            steps_left: chance.of(15..50),
            lives_left: chance.of(1..5),
            fleet: Arc::new(fleet),
            chance,
            temper,
            cast,
            disk,
            story,
            time,
            env,
            operator,
        }
    }

    /// From the first life to the last.
    pub(crate) fn run(&mut self) {
        loop {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().start_paused(true).build().unwrap();
            let end = runtime.block_on(self.live());
            drop(runtime);
            match end {
                End::Crash if self.story.is_endless() => {
                    return self.story.violate(format_args!("there is no end to it"));
                }
                End::Crash => self.disk.recover(),
                End::Restart => self.disk.close(),
                End::Last => return,
            }
        }
    }

    async fn live(&mut self) -> End {
        self.time.begin();
        let disk = self.disk.clone();
        let end = tokio::select! {
            biased;
            () = disk.crashed() => End::Crash,
            end = self.live_on() => end,
        };
        self.time.end();
        end
    }

    async fn live_on(&mut self) -> End {
        if self.story.told().known.is_empty() {
            self.furnish().await;
        }
        self.disk.behave(self.manner());
        self.lives_left = self.lives_left.saturating_sub(1);
        if self.temper.crashes && self.lives_left > 0 && self.chance.percent(70) {
            self.disk.crash_after(self.chance.of(20..600));
        }
        let life = self.begin();
        self.story.begin();
        self.know_all();
        while self.steps_left > 0 {
            self.steps_left -= 1;
            self.step(&life).await;
            if self.lives_left > 0 && self.chance.percent(2) {
                return self.stop(&life).await;
            }
        }
        self.come_to_rest(&life).await;
        checks::all(self).await;
        End::Last
    }

    fn manner(&self) -> Manner {
        let fails = u64::from(self.temper.store_fails);
        Manner {
            wait_ms: *self.chance.pick(&[1, 3, 3, 10, 60]),
            refused: fails * self.chance.of(0..60),
            unanswered: fails * self.chance.of(0..60),
        }
    }

    /// As `serve` wires it.
    fn begin(&self) -> Life {
        let (tasks, env) = (Tasks::new(), self.env.clone());
        let store = Store::new(self.disk.clone(), env.clone());
        let routes = Routes::new(store.clone(), env.clone(), tasks.clone());
        let tally = Tally::default();
        let courier = Courier::new(Parts {
            store: store.clone(),
            env: env.clone(),
            routes: routes.clone(),
            outbound: self.fleet.clone(),
            guard: Guard::new(Vec::new()),
            scripts: Scripts::default(),
            shared: self.temper.shared,
            traces: None,
            tally: tally.clone(),
            tasks: Tasks::new(),
        });
        let hand_over = Arc::new(courier.clone());
        let settings = ingest::Settings::default();
        let ingest = Ingest::new(store, env, &tasks, routes, hand_over, &tally, settings);
        courier.start();
        Life { courier, ingest, tasks, senders: Tasks::new() }
    }

    /// As `serve` ends: first nobody comes in, then what is under way is finished.
    pub(crate) async fn stop(&self, life: &Life) -> End {
        tokio::time::sleep(self.disk.away()).await;
        self.story.tell(format_args!("the program is stopped"));
        life.senders.finish(Duration::from_secs(60)).await;
        let cut = life.courier.finish().await;
        life.tasks.finish(Duration::from_secs(5)).await;
        if cut > 0 {
            self.story.crash(0); // what was cut off may have arrived
        }
        End::Restart
    }
}
