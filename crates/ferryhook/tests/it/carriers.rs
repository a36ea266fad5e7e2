//! What has waited in the store is delivered by threads that let others go first.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::destination::Destination;
use crate::stage::{Stage, source};

const COUNT: usize = 100;
/// What so many attempts take of a processor, whatever it is.
const LEAST: Duration = Duration::from_millis(5);

#[test]
fn a_backlog_has_threads_of_its_own_which_stand_back() {
    let destination = Destination::kind();
    let to =
        |status: &str| vec![source("shop", &destination.url("crm"), json!({ "status": status }))];
    let mut stage = Stage::with(to("active"));
    let send = |stage: &Stage| (0..COUNT).for_each(|_| drop(stage.post("shop", "x")));
    let idle = Carriers::of(&stage);
    let own = niceness("/proc/self/stat".as_ref());
    assert!(idle.niceness.iter().all(|niceness| *niceness == (own + 10).min(19)), "{idle:?}");
    send(&stage);
    destination.wait_for(COUNT);
    let fresh = Carriers::of(&stage);
    stage.apply(to("paused"));
    send(&stage);
    stage.apply(to("active"));
    destination.wait_for(2 * COUNT);
    let stored = Carriers::of(&stage);
    let first = fresh.ran.saturating_sub(idle.ran);
    let second = stored.ran.saturating_sub(fresh.ran);
    let said = format!("{first:?} for what came, {second:?} for what had waited");
    assert!(second > LEAST && second > first * 4, "{said}");
}

fn niceness(stat: &Path) -> i64 {
    let stat = std::fs::read_to_string(stat).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16).unwrap().parse().unwrap()
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
            // Other threads come and go.
            let read = |name| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
            if read("comm").trim() == "carrier" {
                carriers.niceness.push(niceness(&thread.join("stat")));
                let ran = read("schedstat").split_whitespace().next().unwrap().parse().unwrap();
                carriers.ran += Duration::from_nanos(ran);
            }
        }
        assert!(!carriers.niceness.is_empty(), "there are none");
        carriers
    }
}
