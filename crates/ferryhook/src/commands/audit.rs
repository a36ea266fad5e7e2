//! `ferryhook audit`: whether the audit log is what was written.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::{answered, print_json, runtime};
use crate::cli::{AuditCommand, AuditVerify};
use crate::config::{Config, Values};
use crate::desk;
use crate::desk::orders::Asked;
use crate::desk::{Log, Logs};

pub fn run(command: &AuditCommand) -> anyhow::Result<ExitCode> {
    match command {
        AuditCommand::Verify(asked) => verify(asked),
    }
}

fn verify(command: &AuditVerify) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let logs = match runtime()?.block_on(ask_all(command, &config, &values)) {
        Ok(logs) => logs,
        refused => return answered(refused, |_| Ok(())),
    };
    match command.json {
        true => print_json(&json!({
            "isIntact": logs.iter().all(|log| log.report.is_clean()),
            "logs": logs,
        }))?,
        false => print(&logs)?,
    }
    match logs.iter().all(|log| log.report.is_clean()) {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::FAILURE),
    }
}

/// A stretch at a time; those of one log are put together.
async fn ask_all(
    command: &AuditVerify,
    config: &Config,
    values: &Values,
) -> anyhow::Result<Vec<Log>> {
    let mut logs: Vec<Log> = Vec::new();
    let mut from = None;
    loop {
        let asked = Asked::VerifyLogs { account: command.account, from };
        let answer: Logs = desk::ask(config, values, asked).await?;
        for log in answer.logs {
            match logs.last_mut().filter(|last| last.account == log.account) {
                None => logs.push(log),
                Some(last) => {
                    let (so_far, more) = (&mut last.report, log.report);
                    so_far.lines += more.lines;
                    so_far.before += more.before;
                    so_far.faults.extend(more.faults);
                    so_far.more_faults |= more.more_faults;
                    so_far.last_line = more.last_line.or(so_far.last_line);
                    so_far.last_hash = more.last_hash.or(so_far.last_hash.take());
                }
            }
        }
        from = answer.next;
        if from.is_none() {
            return Ok(logs);
        }
    }
}

fn print(logs: &[Log]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for Log { account, report } in logs {
        for fault in &report.faults {
            writeln!(out, "{account}: {fault}")?;
        }
        if report.more_faults {
            writeln!(out, "{account}: there are more")?;
        }
        let before = match report.before {
            0 => String::new(),
            count => format!(", {count} from before the chain began"),
        };
        let lines = if report.lines == 1 { "line" } else { "lines" };
        let stands = if report.is_clean() { "intact" } else { "NOT INTACT" };
        write!(out, "{account}: {stands}, {} {lines}{before}", report.lines)?;
        match (report.last_line, &report.last_hash) {
            (Some(line), Some(hash)) => writeln!(out, "; line {line} is {hash}")?,
            _ => writeln!(out)?,
        }
    }
    Ok(())
}
