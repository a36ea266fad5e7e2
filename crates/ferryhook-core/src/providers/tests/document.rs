//! docs/providers.md says what the table says: the parts of it between marks are made of the
//! table and of the vectors, and a test holds them fast. To write them anew:
//! `FERRYHOOK_WRITE_DOCS=1 cargo test -p ferryhook-core --lib the_documents`

mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;
use crate::handshake::{Content, Effect, Handshake, Keyed, Part, When};
use words::{secret, settings, variant};

#[derive(Deserialize)]
struct Vector {
    provider: String,
    by: String,
    tier: String,
    note: String,
    valid: bool,
}

#[test]
fn the_documents_say_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let written = std::fs::read_to_string(&path).expect("docs/providers.md");
    let vectors = vectors();
    let made = replaced(&written, "providers", &providers_table(&vectors));
    let made = replaced(&made, "differences", &differences_table(&vectors));
    if std::env::var_os("FERRYHOOK_WRITE_DOCS").is_some() {
        std::fs::write(&path, &made).expect("docs/providers.md");
    } else {
        let stale = made.lines().zip(written.lines()).find(|(made, written)| made != written);
        assert_eq!(stale, None, "write it anew: FERRYHOOK_WRITE_DOCS=1 cargo test the_documents");
        assert_eq!(made, written);
    }
}

/// The text with what stands between the marks of this name replaced.
fn replaced(text: &str, name: &str, with: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("the mark that starts");
    let (_, after) = rest.split_once(&end).expect("the mark that ends");
    format!("{before}{start}{with}{end}{after}")
}

fn vectors() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &PathBuf| -> Vec<Vector> {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}

fn providers_table(vectors: &[Vector]) -> String {
    let mut judges: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for vector in vectors {
        let Some(own) = find(&vector.provider) else { panic!("{}", vector.provider) };
        let (count, names) = judges.entry(own.name).or_default();
        *count += 1;
        names.extend(vector.by.split(", "));
    }
    let mut text = String::from(
        "| provider | how it signs | secret | settings | event id | event type | handshake | judged by |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for provider in all() {
        let mark = match provider.confidence {
            Confidence::Settled => "",
            Confidence::Experimental => " \\*",
        };
        let schemes = provider.schemes;
        let how: Vec<_> = schemes.iter().map(variant).collect();
        let secrets: BTreeSet<_> = schemes.iter().map(|own| secret(&own.scheme)).collect();
        let settings: BTreeSet<_> = schemes
            .iter()
            .flat_map(|own| settings(&own.scheme))
            .chain(asked_for(provider))
            .collect();
        let code = |expression: &str| match expression {
            "" => String::new(),
            text => format!("`{}`", text.replace('|', "\\|")),
        };
        let batch = match provider.batch {
            Batch::No => String::new(),
            Batch::Body => " (each of a list)".to_owned(),
            Batch::At(path) => format!(" (each of `{path}`, if split)"),
        };
        let judged = judges.get(provider.name).map_or_else(String::new, |(count, names)| {
            let names: Vec<_> = names.iter().copied().collect();
            format!("{} ({count})", names.join(", "))
        });
        let settings: Vec<_> = settings.into_iter().map(|name| format!("`{name}`")).collect();
        writeln!(
            text,
            "| {}{mark} | {} | {} | {} | {}{batch} | {} | {} | {judged} |",
            provider.name,
            how.join("; "),
            secrets.into_iter().collect::<Vec<_>>().join(" or "),
            settings.join(", "),
            code(provider.id),
            code(provider.event_type),
            handshakes(provider),
        )
        .unwrap();
    }
    text
}

/// Empty secrets are told about in the text: nearly every library takes them.
fn differences_table(vectors: &[Vector]) -> String {
    let mut text = String::from(
        "| provider | request, and what the libraries say | we say |\n|---|---|---|\n",
    );
    let edge =
        |vector: &&Vector| vector.tier == "edge" && !vector.note.starts_with("an empty secret");
    for vector in vectors.iter().filter(edge) {
        let ours = if vector.valid { "valid" } else { "not valid" };
        writeln!(text, "| {} | {} | {ours} |", vector.provider, vector.note.replace('|', "\\|"))
            .unwrap();
    }
    text
}

/// What handshakes ask the source for, and which of several schemes it means.
fn asked_for(provider: &Provider) -> Vec<String> {
    let mut names = Vec::new();
    if provider.schemes.iter().any(|own| !own.name.is_empty()) {
        names.push("scheme".to_owned());
    }
    for own in provider.handshakes {
        let parts = parts(own);
        if own.token.is_some()
            || parts.iter().any(|part| matches!(part, Part::Keyed(Keyed::Ebay, _)))
        {
            names.push("verifyToken".to_owned());
        }
        if parts.iter().any(|part| matches!(part, Part::Origin(_))) {
            names.push("allowedOrigins".to_owned());
        }
    }
    names
}

fn parts(own: &Handshake) -> Vec<Part> {
    let content = match own.content {
        Content::Empty => Vec::new(),
        Content::Text(part) => vec![part],
        Content::Json(fields) => fields.iter().map(|(_, part)| *part).collect(),
    };
    content.into_iter().chain(own.headers.iter().map(|(_, part)| *part)).collect()
}

fn handshakes(provider: &Provider) -> String {
    let mut all: Vec<_> = provider.handshakes.iter().map(one_handshake).collect();
    if let Some(answer) = provider.acknowledgement {
        all.push(format!("events are answered `{}`", answer.body));
    }
    all.dedup();
    all.join("; ")
}

fn one_handshake(own: &Handshake) -> String {
    let when: Vec<_> = own
        .when
        .iter()
        .filter_map(|when| match when {
            When::Has(place) => Some(format!("`{}`", place.replace('|', "\\|"))),
            When::Is(place, value) => Some(format!("`{place}` = `{value}`")),
            When::Lacks(_) => None,
        })
        .collect();
    let is_keyed = parts(own).iter().any(|part| matches!(part, Part::Keyed(..)));
    let answer = match (own.content, own.headers, own.effect) {
        (.., Effect::Keep(_)) => "keeps the secret".to_owned(),
        (.., Effect::CallSns(_)) => "calls the URL".to_owned(),
        (Content::Text(_), ..) if is_keyed => "signed, as text".to_owned(),
        (Content::Json(_), ..) if is_keyed => "signed, as JSON".to_owned(),
        (Content::Text(_), ..) => "echoed as text".to_owned(),
        (Content::Json(_), ..) => "answered as JSON".to_owned(),
        (Content::Empty, [], _) => own.status.to_string(),
        (Content::Empty, ..) => "answered in headers".to_owned(),
    };
    let first = if own.verified_first { ", if the signature holds" } else { "" };
    format!("{} {}: {answer}{first}", own.methods.join(" or "), when.join(", ")).replace(" :", ":")
}
