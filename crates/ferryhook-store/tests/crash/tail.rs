//! What a loss of power can leave behind the last whole frame of the log, made by hand.
//!
//! Nothing before the end of the last whole frame is touched: that may have been acknowledged.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::dice::Dice;

const SEGMENT_HEADER: usize = 16;
const FRAME_HEADER: usize = 20;

/// Does something to the log's tail and says what.
pub(crate) fn tear(directory: &Path, dice: &mut Dice) -> String {
    let Some(path) = last_segment(&directory.join("log")) else {
        return "no log yet".to_owned();
    };
    let bytes = std::fs::read(&path).unwrap();
    let number: u64 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let frames = frames(&bytes, number);
    let end = frames.last().map_or(SEGMENT_HEADER.min(bytes.len()), |(_, end)| *end);
    let some = frames.get(dice.roll(frames.len().max(1) as u64) as usize);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let (what, tail) = match (dice.roll(6), some) {
        (0, None) => {
            std::fs::remove_file(&path).unwrap();
            return format!("removed the empty {}", path.display());
        }
        (0 | 1, _) => {
            file.set_len(end as u64).unwrap();
            ("cut", Vec::new())
        }
        (2, Some((start, end))) => ("repeated a frame", bytes[*start..*end].to_vec()),
        (3, Some((start, end))) => {
            let part = 1 + dice.roll((end - start) as u64) as usize;
            ("repeated part of a frame", bytes[*start..start + part].to_vec())
        }
        (4, _) => ("wrote zeros", vec![0; 700]),
        _ => {
            let count = 1 + dice.roll(700) as usize;
            ("wrote garbage", dice.bytes(count))
        }
    };
    file.write_all_at(&tail, end as u64).unwrap();
    format!("{what} behind byte {end} of {}", path.display())
}

fn last_segment(log: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(log).ok()?.map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "log")).max()
}

/// Where the whole frames lie.
fn frames(bytes: &[u8], segment: u64) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = SEGMENT_HEADER;
    while let Some(header) = bytes.get(at..at + FRAME_HEADER)
        && header.starts_with(b"FHf1")
    {
        let length = u32::from_le_bytes(header[4..8].try_into().unwrap()) as usize;
        let end = at + FRAME_HEADER + length;
        let Some(body) = bytes.get(at + FRAME_HEADER..end) else { break };
        let body = xxh3_64_with_seed(body, segment << 32 | at as u64);
        let hash = xxh3_64_with_seed(&header[..12], body);
        if hash.to_le_bytes() != header[12..] {
            break;
        }
        found.push((at, end));
        at = end;
    }
    found
}
