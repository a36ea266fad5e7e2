//! The report for people.

use std::io::{self, Write};

use super::figures::{Figures, Latency, Pass, Report, Run};

const LABEL: usize = 32;
const COLUMN: usize = 13;

pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { version, cores, body_bytes, pass, grown, growth, .. } = report;
    writeln!(out, "ferryhook {version}, {cores} cores, bodies of {body_bytes} bytes")?;
    if !report.optimized {
        writeln!(out, "THIS IS A BUILD FOR DEVELOPMENT: its figures say nothing")?;
    }
    print_pass(out, pass)?;
    if let Some(grown) = grown {
        print_pass(out, grown)?;
        writeln!(out, "\nfrom the first to the second, in parts of the first")?;
        row(out, "", ["bare HTTP", "bare relay", "ingest", "end to end"].map(str::to_owned))?;
        for step in growth {
            let label = format!("  {} connections, events/s", step.connections);
            let rates = [step.bare_http, step.bare_relay, step.ingest, step.end_to_end];
            row(out, &label, rates.map(|rate| format!("{rate:.2}")))?;
            let label = format!("  {} connections, CPU an event", step.connections);
            let cpu = |ratio: Option<f64>| ratio.map_or("-".to_owned(), fixed);
            let none = String::new();
            row(out, &label, [none.clone(), none, cpu(step.ingest_cpu), cpu(step.end_to_end_cpu)])?;
        }
    }
    Ok(())
}

fn print_pass(out: &mut impl Write, pass: &Pass) -> io::Result<()> {
    writeln!(out, "\n{} sources, {} events stored before", pass.sources, pass.stored)?;
    for run in &pass.runs {
        print_run(out, run)?;
    }
    let paced = &pass.paced;
    writeln!(out, "\n{} events a second", paced.per_second)?;
    row(out, "", ["", "bare relay", "", "end to end"].map(str::to_owned))?;
    let both = |see: fn(&Latency) -> f64| {
        ["", &fixed(see(&paced.bare_relay)), "", &fixed(see(&paced.end_to_end))].map(str::to_owned)
    };
    row(out, "  answer to arrival p50, ms", both(|of| of.ack_to_arrival_ms.p50))?;
    row(out, "  answer to arrival p99, ms", both(|of| of.ack_to_arrival_ms.p99))?;
    row(out, "  request to arrival p50, ms", both(|of| of.send_to_arrival_ms.p50))?;
    row(out, "  request to arrival p99, ms", both(|of| of.send_to_arrival_ms.p99))?;
    row(out, "  answered p50, ms", both(|of| of.ack_ms.p50))?;
    row(out, "  answered p99, ms", both(|of| of.ack_ms.p99))
}

fn print_run(out: &mut impl Write, run: &Run) -> io::Result<()> {
    writeln!(out, "\n{} connections", run.connections)?;
    row(out, "", ["bare HTTP", "bare relay", "ingest", "end to end"].map(str::to_owned))?;
    let all = |see: fn(&Figures) -> String| {
        [&run.bare_http, &run.bare_relay, &run.ingest, &run.end_to_end].map(see)
    };
    row(out, "  events/s", all(|of| format!("{:.0}", of.events_per_second)))?;
    row(out, "  answered p50, ms", all(|of| fixed(of.ack_ms.p50)))?;
    row(out, "  answered p99, ms", all(|of| fixed(of.ack_ms.p99)))?;
    row(out, "  CPU an event, us", all(|of| whole(of.cpu_micros_per_event)))?;
    row(out, "  bytes written an event", all(|of| whole(of.written_bytes_per_event)))?;
    let mebibytes = |of: &Figures| whole(of.peak_memory_bytes.map(|bytes| bytes as f64 / MIB));
    row(out, "  peak memory, MiB", all(mebibytes))?;
    row(out, "  load and sink, CPU an event, us", all(|of| whole(of.load_cpu_micros_per_event)))?;
    row(out, "  repeated at the sink", all(|of| of.repeated.to_string()))?;
    let ratios = &run.ratios;
    writeln!(out, "  ingest / bare HTTP {:.2}", ratios.ingest_to_bare_http)?;
    writeln!(out, "  end to end / bare relay {:.2}", ratios.end_to_end_to_relay)?;
    if let Some(cpu) = ratios.cpu_to_relay {
        writeln!(out, "  CPU, end to end / bare relay {cpu:.2}")?;
    }
    if let Some(written) = ratios.written_bytes_to_relay {
        writeln!(out, "  bytes written, end to end / bare relay {written:.2}")?;
    }
    Ok(())
}

const MIB: f64 = 1024.0 * 1024.0;

fn row(out: &mut impl Write, label: &str, columns: [String; 4]) -> io::Result<()> {
    write!(out, "{label:<LABEL$}")?;
    for column in columns {
        write!(out, "{column:>COLUMN$}")?;
    }
    writeln!(out)
}

fn fixed(figure: f64) -> String {
    format!("{figure:.2}")
}

fn whole(figure: Option<f64>) -> String {
    figure.map_or("-".to_owned(), |figure| format!("{figure:.0}"))
}
