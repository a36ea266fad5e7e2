//! Templates: text with `{{ path }}` in it, each of which becomes what the path leads to.
//!
//! `{{ $.name ?? "nobody" }}` has something to say where there is no value; without that there
//! is nothing. A lone pair of braces is text; two that open must be closed.

use super::path::Source;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(pub(super) Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Value { source: Source, otherwise: String },
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let (inside, behind) = behind
                .split_once("}}")
                .ok_or_else(|| format!("{{{{ is not closed by }}}} behind {before:?}"))?;
            pieces.push(value(inside)?);
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value { source, .. } => Some(source),
        })
    }
}

fn value(inside: &str) -> Result<Piece, String> {
    let (path, otherwise) = match inside.split_once("??") {
        None => (inside, ""),
        Some((path, literal)) => (path, literal.trim()),
    };
    let otherwise = match otherwise {
        "" => String::new(),
        quoted if quoted.starts_with('\'') && quoted.ends_with('\'') && quoted.len() > 1 => {
            quoted[1..quoted.len() - 1].to_owned()
        }
        quoted => serde_json::from_str(quoted)
            .map_err(|_| format!("behind ?? stands a text in quotes, not {quoted:?}"))?,
    };
    Ok(Piece::Value { source: Source::parse(path)?, otherwise })
}
