//! What the providers' own libraries said about requests, held against our verification.
//!
//! The vectors are data; `scripts/vectors` says how they are made. A new one needs no code here.

use std::path::{Path, PathBuf};

use ferryhook_core::Timestamp;
use ferryhook_core::verify::Verdict;
use ferryhook_core::verify::line::Line;
use serde::Deserialize;
use serde_json::value::RawValue;

struct Vector {
    /// The request, as `ferryhook signature verify` reads it.
    line: Line,
    judged: Judged,
}

#[derive(Deserialize)]
struct Judged {
    valid: bool,
    by: String,
    tier: Tier,
    note: String,
    /// Every vector has a time, so that a run is the same on every day.
    now: i64,
}

#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Tier {
    /// The libraries agree.
    Plain,
    /// They do not, or one is more lenient than it should be: this is what we decided.
    Edge,
}

impl Vector {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.judged.now)
    }

    /// Our verdict, as a sentence if it is a no.
    fn verdict(&self) -> Result<(), String> {
        match self.line.verdict(self.now()) {
            Ok(Verdict::Valid) => Ok(()),
            Ok(Verdict::Invalid(reason)) => Err(reason.to_string()),
            Ok(Verdict::NeedsCertificate(url)) => Err(format!("needs the certificate at {url}")),
            Err(problem) => Err(format!("refused: {problem}")),
        }
    }
}

fn vectors() -> Vec<(String, Vec<Vector>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of vectors")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("a file of vectors");
        let list: Vec<Box<RawValue>> = serde_json::from_str(&text).expect("a list of vectors");
        let vector = |raw: &RawValue| Vector {
            line: Line::parse(raw.get()).expect("a line"),
            judged: serde_json::from_str(raw.get()).expect("a verdict"),
        };
        (name, list.iter().map(|raw| vector(raw)).collect())
    };
    files.iter().map(read).collect()
}

/// Every vector of this tier for which our verdict is another one.
fn differences(tier: Tier) -> String {
    let mut found = String::new();
    for (file, vectors) in vectors() {
        for vector in vectors.iter().filter(|vector| vector.judged.tier == tier) {
            let (ours, Judged { valid, by, note, .. }) = (vector.verdict(), &vector.judged);
            if ours.is_ok() != *valid {
                let ours = ours.err().unwrap_or_else(|| "valid".to_owned());
                let theirs = if *valid { "valid" } else { "not valid" };
                found += &format!("{file}: {note}: {theirs} says {by}; we say: {ours}\n");
            }
        }
    }
    found
}

#[test]
fn we_agree_with_the_providers_own_libraries() {
    let found = differences(Tier::Plain);
    assert!(found.is_empty(), "{} differences:\n{found}", found.lines().count());
}

#[test]
fn where_libraries_differ_we_do_as_we_decided() {
    let found = differences(Tier::Edge);
    assert!(found.is_empty(), "{} differences:\n{found}", found.lines().count());
}

/// Vectors that say only yes, or only no, would prove little.
#[test]
fn every_provider_has_vectors_of_both_kinds() {
    let all = vectors();
    assert!(all.len() >= 60, "{} files of vectors", all.len());
    assert!(all.iter().map(|(_, vectors)| vectors.len()).sum::<usize>() >= 1_800);
    for (file, vectors) in all {
        let plain = || vectors.iter().filter(|vector| vector.judged.tier == Tier::Plain);
        assert!(plain().any(|vector| vector.judged.valid), "{file} has no valid vector");
        assert!(plain().any(|vector| !vector.judged.valid), "{file} has no invalid vector");
    }
}

/// Whatever is wrong with a request, the doctor has one sentence for it.
#[test]
fn the_doctor_has_a_sentence_for_each_of_them() {
    for (file, vectors) in vectors() {
        for vector in vectors.iter().filter(|vector| !vector.judged.valid) {
            let said = vector.line.explain(vector.now());
            let said = said.unwrap_or_else(|problem| problem.to_string());
            let is_one = !said.trim().is_empty() && !said.contains('\n');
            assert!(is_one, "{file}: {}: {said:?}", vector.judged.note);
        }
    }
}
