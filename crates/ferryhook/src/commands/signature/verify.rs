//! `ferryhook signature verify`: a line in, a line out, whatever is in it.

use std::io::{BufRead, BufReader, Read, Write};

use ferryhook_core::verify::line::{BadLine, Line};
use ferryhook_core::verify::{Reason, Verdict};
use ferryhook_core::{Env, Timestamp};
use serde::Serialize;

use crate::cli::SignatureVerify;

/// A body of the largest size, in base64, with some room for the rest.
const LINE_BYTES_MAX: u64 = 32 * 1024 * 1024;

#[derive(Debug, Serialize)]
struct Answer {
    valid: bool,
    reason: String,
}

pub fn run(asked: &SignatureVerify) -> anyhow::Result<()> {
    let env = Env::system();
    let mut input = BufReader::new(std::io::stdin().lock());
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let is_cut = line.last() != Some(&b'\n') && read as u64 == LINE_BYTES_MAX;
        if is_cut {
            skip_line(&mut input)?;
        }
        let answer = match line.trim_ascii() {
            [] => continue,
            _ if is_cut => refused("the line is too long"),
            text => answer(text, env.now(), asked.explain),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        // Somebody may be waiting for this answer before they ask again.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(output.flush()?)
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, is_over) = (end.map_or(buffer.len(), |at| at + 1), buffer.is_empty());
        input.consume(used);
        if is_over || end.is_some() {
            return Ok(());
        }
    }
}

fn answer(text: &[u8], now: Timestamp, explain: bool) -> Answer {
    let Ok(text) = std::str::from_utf8(text) else { return refused("the line is not UTF-8") };
    match verdict(text, now, explain) {
        Ok(answer) => answer,
        Err(error) => refused(&error.to_string()),
    }
}

fn verdict(text: &str, now: Timestamp, explain: bool) -> Result<Answer, BadLine> {
    let line = Line::parse(text)?;
    Ok(match line.verdict(now)? {
        Verdict::Valid => Answer { valid: true, reason: "the signature is valid".to_owned() },
        Verdict::Invalid(_) if explain => refused(&line.explain(now)?),
        Verdict::Invalid(reason) => refused(&reason.to_string()),
        Verdict::NeedsCertificate(url) => {
            let why = format!("give what is at {url} as the setting certificate");
            refused(&Reason::Certificate(why.into()).to_string())
        }
    })
}

fn refused(reason: &str) -> Answer {
    Answer { valid: false, reason: reason.to_owned() }
}
