//! The report for people.

use std::io::{self, Write};

use super::figures::Report;
use crate::commands::bench::figures::Percentiles;

const LABEL: usize = 32;
const COLUMN: usize = 12;

pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { version, cores, body_bytes, ingested, fetched, pages, .. } = report;
    writeln!(out, "ferryhook {version}, {cores} cores, bodies of {body_bytes} bytes")?;
    if !report.optimized {
        writeln!(out, "THIS IS A BUILD FOR DEVELOPMENT: its figures say nothing")?;
    }
    writeln!(out)?;
    row(out, "", ["events/s", "p50 ms", "p99 ms", "max ms"])?;
    let rate = |rate: f64| format!("{rate:.0}");
    times(out, "taken in, durable", &rate(ingested.events_per_second), &ingested.ack_ms)?;
    let (workers, at_once) = (fetched.workers, fetched.at_once);
    let label = format!("{workers} workers, lease of {at_once}");
    times(out, &label, &rate(fetched.events_per_second), &fetched.lease_ms)?;
    times(out, "  and their acknowledgement", "", &fetched.ack_ms)?;
    times(out, "page 1 of the inbox", "", &pages.first_ms)?;
    times(out, &format!("page {}", pages.far), "", &pages.far_ms)?;
    writeln!(out)?;
    writeln!(out, "fetched / taken in       {:>6.2}  (at least 0.50)", report.fetched_to_ingested)?;
    writeln!(out, "page {:<5} / page 1      {:>6.2}  (0.80 to 1.20)", pages.far, pages.far_to_first)
}

fn times(out: &mut impl Write, label: &str, rate: &str, ms: &Percentiles) -> io::Result<()> {
    let [p50, p99, max] = [ms.p50, ms.p99, ms.max].map(|figure| format!("{figure:.2}"));
    row(out, label, [rate, &p50, &p99, &max])
}

fn row(out: &mut impl Write, label: &str, columns: [&str; 4]) -> io::Result<()> {
    write!(out, "{label:<LABEL$}")?;
    for column in columns {
        write!(out, "{column:>COLUMN$}")?;
    }
    writeln!(out)
}
