//! The report for people.

use std::io::{self, Write};

use super::figures::{Answers, Report};

const LABEL: usize = 32;
const COLUMN: usize = 12;

pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { version, cores, body_bytes, held, idle, beside, .. } = report;
    writeln!(out, "ferryhook {version}, {cores} cores, bodies of {body_bytes} bytes")?;
    if !report.optimized {
        writeln!(out, "THIS IS A BUILD FOR DEVELOPMENT: its figures say nothing")?;
    }
    writeln!(out)?;
    let memory = |bytes: Option<u64>| match bytes {
        Some(bytes) => format!("{} MiB", bytes / 1024 / 1024),
        None => "unknown".to_owned(),
    };
    let ready = memory(report.ready_memory_bytes);
    writeln!(out, "{held} deliveries held, then killed")?;
    writeln!(
        out,
        "ready again after         {:>8.2} s  (at most 5), {ready}",
        report.ready_seconds
    )?;
    writeln!(out)?;
    row(out, "answered, 100 requests a second", ["p50 ms", "p90 ms", "p99 ms", "max ms"])?;
    times(out, "nothing else to do", idle)?;
    times(out, "while the backlog is delivered", beside)?;
    let ratios = [report.beside_to_idle.p50, report.beside_to_idle.p90, report.beside_to_idle.p99];
    let [p50, p90, p99] = ratios.map(|ratio| format!("{ratio:.2}"));
    row(out, "ratio (at most 2)", [&p50, &p90, &p99, ""])?;
    if !report.lasted {
        writeln!(out, "THE BACKLOG WAS GONE BEFORE THE MEASUREMENT WAS: take more --events")?;
    }
    writeln!(out)?;
    writeln!(out, "delivered                 {:>8.0} /s", report.delivered_per_second)?;
    writeln!(out, "repeated at the sink      {:>8}", report.repeated)?;
    let peak = memory(report.peak_memory_bytes);
    writeln!(out, "peak memory               {peak:>8}  (at most 300)")
}

fn times(out: &mut impl Write, label: &str, ms: &Answers) -> io::Result<()> {
    let figures = [ms.p50, ms.p90, ms.p99, ms.max].map(|figure| format!("{figure:.2}"));
    row(out, label, figures.each_ref().map(String::as_str))
}

fn row(out: &mut impl Write, label: &str, columns: [&str; 4]) -> io::Result<()> {
    write!(out, "{label:<LABEL$}")?;
    for column in columns {
        write!(out, "{column:>COLUMN$}")?;
    }
    writeln!(out)
}
