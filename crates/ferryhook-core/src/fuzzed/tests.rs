use std::fs;
use std::path::PathBuf;

use super::*;

/// How often each seed is changed by chance and tried again, more often where there are few.
const CHANGED_RUNS: usize = 3_000;

/// The seeds, and what becomes of them by chance. Always the same chance: a failure comes again.
#[test]
fn every_target_stands_its_seeds_and_what_becomes_of_them() {
    for (number, target) in TARGETS.iter().enumerate() {
        let seeds = seeds(target.name);
        assert!(seeds.len() >= 5, "{} has too few seeds", target.name);
        let mut chance = Chance(0x9e37_79b9 + number as u64);
        for seed in &seeds {
            run(target, seed);
        }
        for round in 0..CHANGED_RUNS {
            let mut data = seeds[round % seeds.len()].clone();
            for _ in 0..=chance.below(4) {
                chance.change(&mut data, &seeds);
            }
            data.truncate(4096);
            run(target, &data);
        }
    }
}

/// Says what it was, so that it can be kept as a seed.
fn run(target: &Target, data: &[u8]) {
    let ran = std::panic::catch_unwind(|| (target.run)(data));
    assert!(ran.is_ok(), "{} on {}", target.name, data.escape_ascii());
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let files = [format!("{name}.txt"), format!("{name}.found.txt")];
    let lines = files.iter().filter_map(|file| fs::read(folder.join(file)).ok());
    let lines = lines
        .flat_map(|text| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>());
    lines.filter(|line| !line.is_empty()).map(|line| decoded(&line)).collect()
}

/// As `fuzz/seeds.py` writes them.
fn decoded(line: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            data.push(byte);
            continue;
        }
        let code = behind.first().copied().unwrap_or(b'\\');
        let length = if code == b'x' { 3 } else { 1 };
        data.push(match code {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'x' => {
                let digits = std::str::from_utf8(&behind[1..3]).unwrap();
                u8::from_str_radix(digits, 16).unwrap()
            }
            other => other,
        });
        rest = &behind[length.min(behind.len())..];
    }
    data
}

#[test]
fn seeds_are_read_as_they_were_written() {
    assert_eq!(decoded(br"a\0b\\n\n\xff\tz"), b"a\0b\\n\n\xff\tz");
}

/// Xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn change(&mut self, data: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        const LIKELY: &[u8] =
            b"\0\"'\\{}[]()$@?*.,:;=&|!<>%+-_/0123456789eExXaA \n\r\t\x7f\x80\xff";
        let at = self.below(data.len() + 1);
        match self.below(7) {
            0 => data.insert(at, LIKELY[self.below(LIKELY.len())]),
            1 if at < data.len() => data[at] = LIKELY[self.below(LIKELY.len())],
            2 if at < data.len() => data[at] ^= 1 << self.below(8),
            3 => {
                let end = (at + self.below(8)).min(data.len());
                data.drain(at..end);
            }
            4 => {
                let end = (at + self.below(32)).min(data.len());
                let piece = data[at..end].repeat(1 + self.below(6));
                data.splice(at..at, piece);
            }
            5 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len());
                let end = (from + self.below(48)).min(other.len());
                data.splice(at..at, other[from..end].iter().copied());
            }
            _ => data.truncate(at),
        }
    }
}
