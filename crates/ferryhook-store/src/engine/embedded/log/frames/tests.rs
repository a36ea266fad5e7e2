#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use crate::engine::embedded::faults::Faults;
use crate::engine::embedded::log::{Log, Op};

/// A frame with one row whose content is this.
fn frame_with(content: &[u8], at: Position) -> Vec<u8> {
    let mut frame = vec![0; FRAME_HEADER];
    let op =
        Op::PutWithContent { key: b"\x10key", expires: None, content, tail: b"", moved: false };
    op.push(&mut frame, at);
    frame
}

/// What begins like a frame that proves this place durable, again and again, and reaches far.
fn crafted(broken: u32, bytes: usize) -> Vec<u8> {
    let mut content = Vec::with_capacity(bytes);
    while content.len() < bytes {
        let rest = (bytes - content.len()) as u32;
        content.extend_from_slice(&FRAME_MAGIC);
        content.extend_from_slice(&rest.saturating_sub(100).to_le_bytes());
        content.extend_from_slice(&(broken + 1).to_le_bytes());
        content.extend_from_slice(&[7; 8]);
        content.extend_from_slice(&[2, 0]); // a deletion, to begin with
    }
    content
}

/// A log of these frames, each of them synced; one byte of the first is wrong.
fn broken(contents: &[&[u8]], wrong: usize) -> (tempfile::TempDir, Frames) {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::begin(directory.path(), 1, 1 << 20, Faults::default()).unwrap();
    for content in contents {
        let mut frame = frame_with(content, log.end());
        log.append(&mut frame).unwrap();
        log.sync().unwrap();
    }
    let path = segment_path(directory.path(), 1);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let place = u64::from(SEGMENT_HEADER) + wrong as u64;
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 1], place).unwrap();
    let start = Position { segment: 1, offset: SEGMENT_HEADER };
    let mut frames = Frames::open(directory.path(), start).unwrap();
    assert!(matches!(frames.next().unwrap(), Next::Broken));
    (directory, frames)
}

/// Of a hash, of a length.
const WRONG: [usize; 2] = [13, 5];

#[test]
fn a_whole_frame_further_on_proves_the_broken_one_durable() {
    for wrong in WRONG {
        let (_directory, frames) = broken(&[b"first", b"second"], wrong);
        assert!(frames.broken_place_was_durable().unwrap());
        let (_directory, frames) = broken(&[b"first"], wrong);
        assert!(!frames.broken_place_was_durable().unwrap());
    }
}

/// Whoever sends bodies could otherwise make a start take hours.
#[test]
fn what_only_looks_like_frames_costs_no_more_than_the_bound() {
    let content = crafted(SEGMENT_HEADER, 4 * 1024 * 1024);
    for wrong in WRONG {
        let (_directory, frames) = broken(&[&content], wrong);
        let mut proof = Proof::new(frames.at, frames.rest().unwrap());
        assert!(!proof.is_found());
        assert!(proof.hashed <= 2 * HASHED_MAX + frames.length as usize, "{}", proof.hashed);
    }
}

#[test]
fn what_only_looks_like_frames_hides_no_proof() {
    let content = crafted(SEGMENT_HEADER, 4 * 1024 * 1024);
    for wrong in WRONG {
        let (_directory, frames) = broken(&[&content, b"second"], wrong);
        assert!(frames.broken_place_was_durable().unwrap());
    }
}
