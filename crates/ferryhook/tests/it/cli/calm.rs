//! What differs from run to run, replaced: so that the rest can be compared.

use regex::Regex;

/// In this order: a later one may stand inside an earlier one's text.
const RULES: [(&str, &str); 9] = [
    (r"fhs_[A-Za-z0-9_-]+(\.\.\.)?", "fhs_TOKEN"),
    (r"whsec_[A-Za-z0-9+/=]{20,}", "whsec_SECRET"),
    (r"fh_live_[A-Za-z0-9]{38}", "fh_live_KEY"),
    (r"\b(src|conn|evt|key|acc|usr|rpl|req|ses)_[A-Za-z0-9_-]{16}", "${1}_ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b\d\d:\d\d:\d\d\b", "CLOCK"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\b\d+ ms\b", "N ms"),
    (r"[ \t]+(\n|$)", "$1"),
];

pub fn calm(text: &str) -> String {
    RULES.iter().fold(text.to_owned(), |text, (pattern, by)| {
        Regex::new(pattern).unwrap().replace_all(&text, *by).into_owned()
    })
}

/// The same with columns as narrow as can be: their width hangs on what was replaced.
pub fn narrow(text: &str) -> String {
    let calm = calm(text);
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<_> = line.split_whitespace().collect();
        format!("{}{}", &line[..indent], words.join(" "))
    };
    calm.lines().map(line).collect::<Vec<_>>().join("\n")
}
