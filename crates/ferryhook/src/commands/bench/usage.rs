//! What another process has used, as Linux tells it. Elsewhere these figures are left out.

use std::time::Duration;

/// Of `/proc/PID/stat`; the same on every machine that Linux runs on today.
const TICK: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// In user space and in the kernel.
    pub cpu: Duration,
    /// Handed to the disk, or to be handed to it.
    pub written_bytes: u64,
    pub peak_memory_bytes: u64,
}

impl Usage {
    pub fn of(process: u32) -> Option<Self> {
        let read = |name| std::fs::read_to_string(format!("/proc/{process}/{name}")).ok();
        Some(Self {
            cpu: cpu(&read("stat")?)?,
            written_bytes: field(&read("io")?, "write_bytes:")?,
            peak_memory_bytes: field(&read("status")?, "VmHWM:")? * 1024,
        })
    }

    /// Makes the peak begin anew, at what is in use now.
    pub fn forget_peak(process: u32) {
        // Where it cannot be forgotten, the peak is that of the whole life.
        let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
    }
}

fn cpu(stat: &str) -> Option<Duration> {
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let user: u32 = times.next()?.parse().ok()?;
    let system: u32 = times.next()?.parse().ok()?;
    Some(TICK * (user + system))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
