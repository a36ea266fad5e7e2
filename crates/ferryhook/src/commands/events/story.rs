//! What `ferryhook events show` says to a person.

use std::fmt::Write;

use ferryhook_api::events::{AttemptLine, EventStory, HeaderLine};

use crate::commands::columns::{Columns, or_dash, plain};

/// Writing into a string cannot fail.
pub fn tell(story: &EventStory) -> String {
    let mut text = facts(story);
    if !story.headers.is_empty() {
        text.push_str("\nheaders\n");
        for HeaderLine { name, value } in &story.headers {
            let _ = writeln!(text, "  {}: {}", plain(name), plain(value));
        }
    }
    text.push_str(&deliveries(story));
    text.push_str(&attempts(story));
    text.push_str(&body(story));
    text
}

pub fn facts(story: &EventStory) -> String {
    let line = &story.line;
    let source = match &line.source {
        Some(name) => format!("{name} ({})", line.source_id),
        None => format!("{} (deleted)", line.source_id),
    };
    let request = story.method.as_ref().map(|method| {
        let path = story.path.as_deref().unwrap_or_default();
        let query = story.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{method} {path}{query}").trim_end().to_owned()
    });
    let duplicates = (line.duplicate_count > 0).then(|| line.duplicate_count.to_string());
    let facts = [
        ("event", Some(line.event_id.to_string())),
        ("source", Some(source)),
        ("status", Some(line.status.to_string())),
        ("type", line.event_type.clone()),
        ("received", Some(line.received_at.to_string())),
        ("processed", story.processed_at.map(|at| at.to_string())),
        ("delivered", story.delivered_at.map(|at| at.to_string())),
        ("expires", story.expires_at.map(|at| at.to_string())),
        ("request", request),
        ("from", story.source_ip.clone()),
        ("content type", story.content_type.clone()),
        ("body", Some(format!("{} bytes", line.body_bytes))),
        ("key", story.dedup_key.clone()),
        ("came again", duplicates),
        ("problem", line.processing_error.clone()),
    ];
    let mut text = String::new();
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(text, "{name:<14}{}", plain(&value));
        }
    }
    text
}

pub fn deliveries(story: &EventStory) -> String {
    if story.deliveries.is_empty() {
        return "\nno deliveries\n".to_owned();
    }
    let headings = ["CONNECTION", "STATE", "ATTEMPTS", "LAST", "NEXT", "LANE"];
    let mut columns = Columns::new(headings);
    for one in &story.deliveries {
        let state = match &one.reason {
            Some(reason) => format!("{} ({reason})", one.state),
            None => one.state.to_string(),
        };
        let last = one.last_status_code.map(|code| code.to_string());
        columns.line([
            one.connection.clone().unwrap_or_else(|| one.connection_id.to_string()),
            state,
            one.attempts.to_string(),
            or_dash(last.or_else(|| one.last_error.clone())),
            or_dash(one.next_attempt_at),
            format!("{:?}", one.lane).to_lowercase(),
        ]);
    }
    format!("\n{}", columns.show())
}

pub fn attempts(story: &EventStory) -> String {
    if story.attempts.is_empty() {
        return String::new();
    }
    let names = |attempt: &AttemptLine| {
        let mut deliveries = story.deliveries.iter();
        let mine = deliveries.find(|one| one.connection_id == attempt.connection_id);
        let name = mine.and_then(|one| one.connection.clone());
        name.unwrap_or_else(|| attempt.connection_id.to_string())
    };
    let headings =
        ["ATTEMPT", "AT", "CONNECTION", "ANSWER", "MS", "DNS", "CONNECT", "TLS", "FIRST BYTE"];
    let mut columns = Columns::new(headings);
    for attempt in &story.attempts {
        let answer = match (attempt.status_code, &attempt.error) {
            (0, Some(error)) => error.clone(),
            (0, None) => "no answer".to_owned(),
            (code, Some(error)) => format!("{code}, {error}"),
            (code, None) => code.to_string(),
        };
        columns.line([
            attempt.number.to_string(),
            attempt.attempted_at.to_string(),
            names(attempt),
            answer,
            attempt.latency_ms.to_string(),
            or_dash(attempt.dns_ms),
            or_dash(attempt.connect_ms),
            or_dash(attempt.tls_ms),
            or_dash(attempt.first_byte_ms),
        ]);
    }
    format!("\n{}", columns.show())
}

/// As it is where it is read by a program, and harmless where it is read by a person.
fn body(story: &EventStory) -> String {
    use std::io::IsTerminal;
    let is_terminal = std::io::stdout().is_terminal();
    match (&story.body, &story.body_base64) {
        (Some(body), _) if is_terminal => {
            let lines: Vec<_> = body.split('\n').map(plain).collect();
            format!("\n{}\n", lines.join("\n"))
        }
        (Some(body), _) => format!("\n{body}\n"),
        (None, Some(_)) => "\nthe body is not text; --json has it as base64\n".to_owned(),
        (None, None) => String::new(),
    }
}
