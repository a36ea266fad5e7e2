//! What the process has used so far.

use std::path::Path;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) user: Duration,
    pub(super) system: Duration,
    pub(super) written_bytes: u64,
}

impl Usage {
    pub(super) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // In ticks of 10 ms; over a whole run that is precise enough.
        let [user, system] =
            [11, 12].map(|place| Duration::from_millis(fields[place].parse::<u64>().unwrap() * 10));
        Self { user, system, written_bytes: field("/proc/self/io", "write_bytes:") }
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
            written_bytes: self.written_bytes - before.written_bytes,
        }
    }

    /// CPU time for each event, in microseconds: all of it, and the kernel's share.
    pub(super) fn cpu_per_event(&self, events: u64) -> (f64, f64) {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / events as f64;
        (micros(self.user + self.system), micros(self.system))
    }

    pub(super) fn peak_memory_bytes() -> u64 {
        field("/proc/self/status", "VmHWM:") * 1024
    }
}

fn field(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Space on disk, as blocks: preallocated but unused room counts.
pub(super) fn directory_bytes(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::read_dir(path)
        .unwrap()
        .filter_map(Result::ok)
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => directory_bytes(&entry.path()),
            false => entry.metadata().map_or(0, |found| found.blocks() * 512),
        })
        .sum()
}
