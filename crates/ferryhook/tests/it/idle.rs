//! A server that nobody asks anything leaves the machine to others.

use std::time::Duration;

use crate::ferry::Ferry;
use crate::receiver::Receiver;
use crate::storage::DATA;
use crate::way::{self, SECRET, Way};

const WINDOW: Duration = Duration::from_secs(3);
/// One part in a hundred of a core, in the ticks of 10 ms that the kernel counts.
const TICKS_MAX: u64 = 3;
/// Others on the machine may spoil a look; not all of them.
const LOOKS: usize = 5;

#[test]
fn an_idle_server_writes_nothing_and_hardly_runs() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::kind(SECRET);
    way::lay(&folder.path().join(DATA), &Way::to(receiver.address));
    let variables = [("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")];
    let ferry = Ferry::start_in(&folder, &variables);
    let mut seen = Vec::new();
    for _ in 0..LOOKS {
        let before = Used::by(ferry.id());
        std::thread::sleep(WINDOW);
        let after = Used::by(ferry.id());
        let used = Used {
            ticks: after.ticks - before.ticks,
            written_bytes: after.written_bytes - before.written_bytes,
        };
        if used.ticks < TICKS_MAX && used.written_bytes == 0 {
            return;
        }
        seen.push(used);
    }
    panic!("it is never idle: {seen:?}");
}

#[derive(Debug)]
struct Used {
    ticks: u64,
    written_bytes: u64,
}

impl Used {
    fn by(process: u32) -> Self {
        let read = |name| std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap();
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let io = read("io");
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).unwrap();
        Self {
            ticks: [11, 12].map(|place| fields[place].parse::<u64>().unwrap()).iter().sum(),
            written_bytes: written.parse().unwrap(),
        }
    }
}
