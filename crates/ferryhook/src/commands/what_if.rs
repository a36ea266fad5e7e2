//! `ferryhook what-if`: what other rules would have done with the last events.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use ferryhook_api::connections::{Tried, Verdicts};
use ferryhook_core::explained::Verdict;

use super::columns::{Columns, plain};
use super::{answered, explain, input, print_json, runtime};
use crate::cli::WhatIf;
use crate::config::{Config, Values};
use crate::desk::orders::{self, Asked};
use crate::desk::{self};

const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub fn run(command: &WhatIf) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let asked = orders::WhatIf {
        connection: command.connection.clone(),
        file: command.rules.display().to_string(),
        rules: input::text(&command.rules, FILE_BYTES_MAX)?,
        last: command.last as usize,
        examples: command.examples.into(),
        after: None,
    };
    let answer = runtime()?.block_on(all(asked, &config, &values));
    answered(answer, |tried| match command.json {
        true => print_json(&tried),
        false => Ok(write!(std::io::stdout().lock(), "{}", tell(&tried))?),
    })
}

/// One answer after the other: the server looks at so many at a time.
async fn all(mut asked: orders::WhatIf, config: &Config, values: &Values) -> anyhow::Result<Tried> {
    let mut all = Tried::default();
    loop {
        let order = Asked::WhatIf(asked.clone());
        let tried: Tried = desk::ask(config, values, order).await?;
        let is_over = tried.next.is_none() || tried.next == asked.after;
        asked.after = tried.next;
        asked.last = asked.last.saturating_sub(tried.looked_at);
        asked.examples = asked.examples.saturating_sub(tried.examples.len());
        add(&mut all, tried);
        if is_over || asked.last == 0 {
            return Ok(all);
        }
    }
}

fn add(all: &mut Tried, more: Tried) {
    all.looked_at += more.looked_at;
    all.verdict_changed += more.verdict_changed;
    all.content_changed += more.content_changed;
    count(&mut all.before, more.before);
    count(&mut all.after, more.after);
    all.examples.extend(more.examples);
}

fn count(all: &mut Verdicts, more: Verdicts) {
    all.delivered += more.delivered;
    all.other_type += more.other_type;
    all.filtered += more.filtered;
    all.dropped += more.dropped;
    all.failed += more.failed;
}

fn tell(tried: &Tried) -> String {
    let Tried { looked_at, verdict_changed, content_changed, before, after, .. } = tried;
    let mut text = format!(
        "of the last {looked_at} events {verdict_changed} would meet another end, and of \
         {content_changed} something else would be sent\n\n"
    );
    let mut columns = Columns::new(["", "NOW", "THEN"]);
    let rows = [
        ("delivered", before.delivered, after.delivered),
        ("not of a listed type", before.other_type, after.other_type),
        ("filtered", before.filtered, after.filtered),
        ("dropped by the transform", before.dropped, after.dropped),
        ("failing", before.failed, after.failed),
    ];
    for (name, now, then) in rows {
        columns.line([name.to_owned(), now.to_string(), then.to_string()]);
    }
    text.push_str(&columns.show());
    for example in &tried.examples {
        let (before, after) = (verdict(&example.compared.before), verdict(&example.compared.after));
        let _ = match example.compared.changes_verdict() {
            true => writeln!(text, "\n{}  {before} -> {after}", example.event_id),
            false => writeln!(text, "\n{}  {before}, differently", example.event_id),
        };
        text.push_str(&explain::changes(&example.compared.changes));
    }
    text
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Delivered => "delivered".to_owned(),
        Verdict::OtherType => "not of a listed type".to_owned(),
        Verdict::Filtered => "filtered".to_owned(),
        Verdict::Dropped { reason } => format!("dropped ({})", plain(reason)),
        Verdict::Failed { reason } => format!("fails ({})", plain(reason)),
    }
}
