//! The report for people.

use std::io::{self, Write};

use super::figures::{Report, Times};
use crate::commands::bench::figures::Percentiles;

const LABEL: usize = 32;
const COLUMN: usize = 10;
const MIB: f64 = 1024.0 * 1024.0;

pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { version, cores, events, sources, body_bytes, rate, seconds, .. } = report;
    writeln!(out, "ferryhook {version}, {cores} cores, {rate} requests/s for {seconds} s")?;
    if !report.optimized {
        writeln!(out, "THIS IS A BUILD FOR DEVELOPMENT: its figures say nothing")?;
    }
    let (took, size) = (report.filled.seconds, report.filled.bytes as f64 / MIB);
    writeln!(
        out,
        "{events} events of {body_bytes} bytes from {sources} sources: stored in {took:.0} s, \
         {size:.0} MiB\n"
    )?;
    row(out, "ms from when it was due", ["requests", "p50", "p99", "max", "errors"])?;
    let figures = &report.figures;
    for line in &figures.operations {
        times(out, &format!("  {}", line.operation), &line.times)?;
    }
    writeln!(out)?;
    times(out, "all that reads", &figures.reads)?;
    times(out, "all that writes", &figures.writes)?;
    times(out, "all", &figures.all)?;
    times(out, "floor: /healthz at the same rate", &figures.floor)?;
    let Percentiles { p50, p99, max } = figures.disk_ms;
    let [p50, p99, max] = [p50, p99, max].map(fixed);
    row(out, "floor: append 4 KiB and sync", ["", &p50, &p99, &max, ""])?;
    writeln!(out)?;
    let whole =
        |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.0}"));
    let cpu = [figures.cpu_micros_per_request, figures.floor_cpu_micros_per_request].map(whole);
    writeln!(out, "CPU of the server for a request {} us, of the floor {} us", cpu[0], cpu[1])?;
    let memory = figures.peak_memory_bytes.map(|bytes| bytes as f64 / MIB);
    writeln!(out, "peak memory of the server {} MiB", whole(memory))
}

fn times(out: &mut impl Write, label: &str, times: &Times) -> io::Result<()> {
    let Percentiles { p50, p99, max } = times.ms;
    let [p50, p99, max] = [p50, p99, max].map(fixed);
    row(out, label, [&times.count.to_string(), &p50, &p99, &max, &times.failed.to_string()])
}

fn row(out: &mut impl Write, label: &str, columns: [&str; 5]) -> io::Result<()> {
    write!(out, "{label:<LABEL$}")?;
    for column in columns {
        write!(out, "{column:>COLUMN$}")?;
    }
    writeln!(out)
}

fn fixed(figure: f64) -> String {
    format!("{figure:.2}")
}
