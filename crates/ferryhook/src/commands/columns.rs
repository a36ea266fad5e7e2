//! Tables for people: columns as wide as what is in them.

use serde::Serialize;

/// A table with a line of headings.
#[derive(Debug)]
pub struct Columns {
    lines: Vec<Vec<String>>,
}

impl Columns {
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { lines: vec![headings.map(str::to_owned).to_vec()] }
    }

    pub fn line<const N: usize>(&mut self, cells: [String; N]) {
        self.lines.push(cells.map(|cell| plain(&cell)).to_vec());
    }

    pub fn show(&self) -> String {
        let count = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..count).map(width).collect();
        let mut text = String::new();
        for line in &self.lines {
            let cells = line.iter().zip(&widths);
            let padded: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
            text.push_str(padded.join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

/// Without what a terminal would obey: much of what we show was written by strangers.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// The word for it that the API has.
pub fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().map(plain).unwrap_or_default()
}

/// A dash where there is nothing.
pub fn or_dash(text: Option<impl ToString>) -> String {
    text.map_or_else(|| "-".to_owned(), |text| text.to_string())
}

#[cfg(test)]
mod tests;
