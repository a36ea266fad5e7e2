//! What has waited in the store is delivered by threads that let others go first.

use std::time::Duration;

use serde_json::json;

use crate::destination::Destination;
use crate::stage::{Stage, source};

const COUNT: usize = 100;

#[test]
fn a_backlog_has_threads_of_its_own_which_stand_back() {
    let destination = Destination::kind();
    let to =
        |status: &str| vec![source("shop", &destination.url("crm"), json!({ "status": status }))];
    let mut stage = Stage::with(to("active"));
    let send = |stage: &Stage| (0..COUNT).for_each(|_| drop(stage.post("shop", "x")));
    let idle = Carriers::of(&stage);
    assert!(idle.niceness.iter().all(|niceness| *niceness == 10), "{idle:?}");
    send(&stage);
    destination.wait_for(COUNT);
    let fresh = Carriers::of(&stage);
    stage.apply(to("paused"));
    send(&stage);
    stage.apply(to("active"));
    destination.wait_for(2 * COUNT);
    let stored = Carriers::of(&stage);
    let (first, second) = (fresh.ran - idle.ran, stored.ran - fresh.ran);
    assert!(second > first * 4, "{first:?} for what came, {second:?} for what had waited");
}

#[derive(Debug)]
struct Carriers {
    niceness: Vec<i64>,
    /// How long they had a processor, all together.
    ran: Duration,
}

impl Carriers {
    fn of(stage: &Stage) -> Self {
        let mut carriers = Self { niceness: Vec::new(), ran: Duration::ZERO };
        let threads = std::fs::read_dir(format!("/proc/{}/task", stage.ferry.id())).unwrap();
        for thread in threads.map(|thread| thread.unwrap().path()) {
            let read = |name| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
            if read("comm").trim() != "carrier" {
                continue;
            }
            let stat = read("stat");
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            carriers.niceness.push(fields[16].parse().unwrap());
            let ran = read("schedstat").split_whitespace().next().unwrap().parse().unwrap();
            carriers.ran += Duration::from_nanos(ran);
        }
        assert!(!carriers.niceness.is_empty(), "there are none");
        carriers
    }
}
