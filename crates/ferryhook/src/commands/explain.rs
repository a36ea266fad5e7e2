//! `ferryhook explain`: why an event went where it went.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use ferryhook_api::events::{Explanation, LedgerVerdict};
use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::event::Status;
use ferryhook_core::explained::{Change, Explained, Verdict};
use ferryhook_core::filter::Explanation as Clauses;

use super::columns::plain;
use super::events::story;
use super::{answered, print_json, runtime};
use crate::cli::Explain;
use crate::client::place;
use crate::desk::orders::Asked;

pub fn run(command: &Explain) -> anyhow::Result<ExitCode> {
    let asked = Asked::Explain(command.event);
    let answer = runtime()?.block_on(place::ask::<Explanation>(&command.flags, asked));
    answered(answer, |explanation| match command.json {
        true => print_json(&explanation),
        false => Ok(write!(std::io::stdout().lock(), "{}", tell(&explanation))?),
    })
}

/// Writing into a string cannot fail.
fn tell(explanation: &Explanation) -> String {
    let Explanation { story, connections, .. } = explanation;
    let mut text = story::facts(story);
    if let (Status::SignatureFailed, Some(reason)) =
        (story.line.status, &story.line.processing_error)
    {
        let _ = writeln!(text, "\nsignature   does not hold: {}", plain(reason));
    }
    let _ = writeln!(text, "\nledger      {}", ledger(explanation));
    if connections.is_empty() {
        text.push_str("\nits source has no connections\n");
    }
    if story.line.status == Status::SignatureFailed && !connections.is_empty() {
        text.push_str(
            "\nit goes nowhere until its signature holds (replay it to have that checked again); the \
             connections would see it so:\n",
        );
    }
    for connection in connections {
        text.push_str(&told(connection));
    }
    text.push_str(&story::deliveries(story));
    text.push_str(&story::attempts(story));
    text
}

fn ledger(explanation: &Explanation) -> String {
    let copies = explanation.story.line.duplicate_count;
    let until = explanation.ledger.remembered_until;
    let until = until.map(|at| format!("; remembered until {at}")).unwrap_or_default();
    match &explanation.ledger.verdict {
        LedgerVerdict::NoKey => "no key: nothing tells a copy of it from another event".to_owned(),
        LedgerVerdict::First => match copies {
            0 => format!("new: the first with its key, and no copy came{until}"),
            copies => format!("new: the first with its key; {copies} copies came behind it{until}"),
        },
        LedgerVerdict::Other { first } => {
            format!("its key was forgotten meanwhile and belongs to {first} now{until}")
        }
        LedgerVerdict::Forgotten => "its key is forgotten: a copy would be a new event".to_owned(),
    }
}

pub fn told(explained: &Explained) -> String {
    let mut text = format!("\nconnection  {}: ", plain(&explained.connection));
    text.push_str(&match &explained.verdict {
        Verdict::Delivered => "wanted".to_owned(),
        Verdict::OtherType => {
            format!("not wanted, its type is none of {}", plain(&explained.event_types.join(", ")))
        }
        Verdict::Filtered => "not wanted, the filter does not hold".to_owned(),
        Verdict::Dropped { reason } => format!("dropped by the transform: {}", plain(reason)),
        Verdict::Failed { reason } => format!("fails: {}", plain(reason)),
    });
    text.push('\n');
    let filter = explained.filter.as_ref().map(clauses).unwrap_or_default();
    let transform = explained.transform.as_ref().map(|transform| {
        let is_told = matches!(explained.verdict, Verdict::Dropped { .. } | Verdict::Failed { .. });
        let changes = match transform.changes.is_empty() {
            true if is_told => String::new(),
            true => "  transform changes nothing\n".to_owned(),
            false => format!("  transform\n{}", self::changes(&transform.changes)),
        };
        let console =
            transform.console.iter().map(|line| format!("    console: {}\n", plain(line)));
        changes + &console.collect::<String>()
    });
    let transform = transform.unwrap_or_default();
    match explained.pipeline_order {
        PipelineOrder::FilterFirst => text + &filter + &transform,
        PipelineOrder::TransformFirst => text + &transform + &filter,
    }
}

fn clauses(explanation: &Clauses) -> String {
    let told = explanation.to_string();
    let lines = told.lines().map(|line| format!("    {}\n", plain(line)));
    format!("  filter\n{}", lines.collect::<String>())
}

pub(super) fn changes(changes: &[Change]) -> String {
    let mut text = String::new();
    for Change { at, before, after } in changes {
        let at = plain(at);
        let _ = match (before.as_deref().map(plain), after.as_deref().map(plain)) {
            (Some(before), Some(after)) => writeln!(text, "    ~ {at}: {before} -> {after}"),
            (None, Some(after)) => writeln!(text, "    + {at}: {after}"),
            (Some(before), None) => writeln!(text, "    - {at}: {before}"),
            (None, None) => Ok(()),
        };
    }
    text
}
