//! What `ferryhook apply` says to a person.

use std::fmt::Write;

use ferryhook_api::apply::{Change, Kind, Outcome, Thing, What};

/// One line for each thing that changed or was left alone, and a last one that counts them.
pub fn show(outcome: &Outcome) -> String {
    let changed = outcome.changes.iter().map(|change| Line::of(change, outcome.dry_run));
    let left = outcome.left.iter().map(|thing| Line {
        mark: '=',
        thing,
        says: "not in the file, left alone".to_owned(),
    });
    let lines: Vec<Line<'_>> = changed.chain(left).collect();
    let width = lines.iter().map(|line| name(line.thing).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Line { mark, thing, says } in lines {
        let (kind, name) = (thing.kind, name(thing));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{mark} {kind:<10}  {name:<width$}  {says}");
    }
    text + &summary(outcome) + "\n"
}

struct Line<'a> {
    mark: char,
    thing: &'a Thing,
    says: String,
}

impl<'a> Line<'a> {
    fn of(change: &'a Change, dry_run: bool) -> Self {
        let would = if dry_run { "would be " } else { "" };
        let (mark, mut says) = match change.what {
            What::Created => ('+', format!("{would}created")),
            What::Changed => ('~', format!("{would}changed: {}", change.fields.join(", "))),
            What::Deleted => ('-', format!("{would}deleted")),
        };
        if let (What::Created, Kind::Source, Some(id)) =
            (change.what, change.thing.kind, &change.thing.id)
        {
            let _ = write!(says, ", takes events at /in/{id}");
        }
        if let Some(secret) = &change.signing_secret {
            let secret = secret.expose();
            let _ = write!(says, ", signs with {secret} (not shown again)");
        }
        Line { mark, thing: &change.thing, says }
    }
}

fn name(thing: &Thing) -> String {
    match &thing.connection {
        Some(connection) => format!("{}/{connection}", thing.source),
        None => thing.source.clone(),
    }
}

fn summary(outcome: &Outcome) -> String {
    let count = |what| outcome.changes.iter().filter(|change| change.what == what).count();
    let (created, changed) = (count(What::Created), count(What::Changed));
    let (deleted, unchanged) = (count(What::Deleted), outcome.unchanged);
    match (outcome.changes.is_empty(), outcome.dry_run) {
        (true, _) => format!("nothing to change, {unchanged} as the file says"),
        (false, true) => format!(
            "would be {created} created, {changed} changed, {deleted} deleted, {unchanged} unchanged"
        ),
        (false, false) => {
            format!(
                "{created} created, {changed} changed, {deleted} deleted, {unchanged} unchanged"
            )
        }
    }
}
