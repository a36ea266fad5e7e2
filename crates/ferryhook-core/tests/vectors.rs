//! What the providers' own libraries said about requests, held against our verification.
//!
//! The vectors are data; `scripts/vectors` says how they are made. A new one needs no code here.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::verify::{NoCertificates, Request, Verdict, Verifier};
use ferryhook_core::{Headers, Map, Secret, Timestamp};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Vector {
    provider: String,
    method: String,
    url: String,
    headers: Map,
    body: Option<String>,
    body_base64: Option<String>,
    secret: String,
    #[serde(default)]
    previous_secrets: Vec<String>,
    now: i64,
    #[serde(default)]
    config: Map,
    valid: bool,
    by: String,
    tier: Tier,
    note: String,
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
    /// Our verdict, as a sentence if it is a no.
    fn verdict(&self) -> Result<(), String> {
        let secrets: Vec<_> =
            [&self.secret].into_iter().chain(&self.previous_secrets).map(Secret::new).collect();
        let verifier = Verifier::new(&self.provider, &secrets, &self.config);
        let verifier = verifier.map_err(|problem| format!("refused to compile: {problem}"))?;
        let headers: Headers = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().expect("a header is text")))
            .collect();
        let decoded = self.body_base64.as_ref().map(|text| STANDARD.decode(text).expect("base64"));
        let body = decoded.unwrap_or_else(|| self.body.clone().unwrap_or_default().into_bytes());
        let request =
            Request { method: &self.method, url: &self.url, headers: &headers, body: &body };
        match verifier.check(&request, Timestamp::from_seconds(self.now), &NoCertificates) {
            Verdict::Valid => Ok(()),
            Verdict::Invalid(reason) => Err(reason.to_string()),
            Verdict::NeedsCertificate(url) => Err(format!("needs the certificate at {url}")),
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
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("a file of vectors");
        let list =
            serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        (name, list)
    };
    files.iter().map(read).collect()
}

/// Every vector of this tier for which our verdict is another one.
fn differences(tier: Tier) -> String {
    let mut found = String::new();
    for (file, vectors) in vectors() {
        for vector in vectors.iter().filter(|vector| vector.tier == tier) {
            let ours = vector.verdict();
            if ours.is_ok() != vector.valid {
                let ours = ours.err().unwrap_or_else(|| "valid".to_owned());
                let theirs = if vector.valid { "valid" } else { "not valid" };
                let Vector { note, by, .. } = vector;
                writeln!(found, "{file}: {note}: {theirs} says {by}; we say: {ours}").unwrap();
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
    assert!(all.len() >= 55, "{} files of vectors", all.len());
    for (file, vectors) in all {
        let plain = || vectors.iter().filter(|vector| vector.tier == Tier::Plain);
        assert!(plain().any(|vector| vector.valid), "{file} has no valid vector");
        assert!(plain().any(|vector| !vector.valid), "{file} has no invalid vector");
    }
}
