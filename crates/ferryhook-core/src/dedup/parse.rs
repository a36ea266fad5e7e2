//! Reads a rule as it is written, and says what is wrong with it.
//!
//! ```text
//! rule     = paths | template                 a template has braces
//! template = { text | "{" paths "}" | "[" { text | "{" paths "}" } "]" }
//! paths    = path { "|" path }                the first one that leads somewhere
//! path     = "path" | "body" | "headers." name | "query." name | "body" { step }
//!          | "cloudevent." name                 an attribute, however the event travels
//! step     = "." name | "[" number "]" | "['" name "']"
//! ```
//! In front of a path may stand `$.`, and then `body.` may be left out: `$.id` is `body.id`.

use super::json::Tree;
use super::rule::{Part, Piece, Place, Rule};
use super::{EXPRESSION_BYTES_MAX, PATHS_MAX, STEPS_MAX};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("an expression has at most {EXPRESSION_BYTES_MAX} bytes, not {0}")]
    TooLong(usize),
    #[error("an expression names at most {PATHS_MAX} paths")]
    TooManyPaths,
    #[error("a path has at most {STEPS_MAX} names")]
    TooManySteps,
    #[error(
        "a path starts with body, headers, query, path, cloudevent or $ (such as body.id), not with {0:?}"
    )]
    Root(String),
    #[error("the header or query parameter is missing: write headers.x-name or query.name")]
    NameMissing,
    #[error("a name is missing behind {0:?}")]
    StepMissing(String),
    #[error("{0:?} is not expected behind {1:?}")]
    Unexpected(char, String),
    #[error("{0:?} is opened and not closed")]
    Unclosed(char),
    #[error("a template needs at least one path outside of [optional] parts")]
    NothingRequired,
    #[error("two paths need something between them, such as {{body.a}}:{{body.b}}")]
    Touching,
    #[error("an expression must not have control characters")]
    Control,
}

impl Rule {
    pub fn parse(expression: &str) -> Result<Self, BadRule> {
        let mut reader = Reader::new(expression)?;
        let pieces = if reader.text.contains('{') {
            reader.template(None)?
        } else {
            vec![Piece::Part(reader.paths()?)]
        };
        reader.end()?;
        if !pieces.iter().any(|piece| matches!(piece, Piece::Part(_))) {
            return Err(BadRule::NothingRequired);
        }
        if touch(&pieces, &mut false) {
            return Err(BadRule::Touching);
        }
        Ok(Self::new(pieces, reader.tree))
    }
}

/// Whether two values would stand side by side, so that nobody could tell where one ends.
fn touch(pieces: &[Piece], behind_part: &mut bool) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Literal(_) => {
            *behind_part = false;
            false
        }
        Piece::Part(_) => std::mem::replace(behind_part, true),
        Piece::Optional(inner) => touch(inner, behind_part),
    })
}

/// The names of one path into the body, which may also start with a name: `events` is
/// `body.events`. No names at all mean the body as a whole.
pub(crate) fn body_path(path: &str) -> Result<Vec<String>, BadRule> {
    let mut reader = Reader::new(path)?;
    let rooted = ["$.body", "$", "body"].iter().find(|root| {
        let behind = reader.text.strip_prefix(**root);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['.', '[']))
    });
    let mut steps = Vec::new();
    match rooted {
        Some(root) => reader.at = root.len(),
        None => match reader.word() {
            "" => return Err(reader.step_missing()),
            first => steps.push(first.to_owned()),
        },
    }
    steps.extend(reader.steps()?);
    reader.end()?;
    Ok(steps)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    paths: usize,
    tree: Tree,
}

/// What a name cannot have in it unless it is quoted.
const STOPS: [char; 8] = ['.', '[', ']', '{', '}', '|', '\'', ' '];

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Result<Self, BadRule> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(BadRule::TooLong(text.len()));
        }
        if text.contains(char::is_control) {
            return Err(BadRule::Control);
        }
        Ok(Self { text: text.trim(), at: 0, paths: 0, tree: Tree::default() })
    }

    /// Up to the end, or to the bracket that ends an optional part.
    fn template(&mut self, until: Option<char>) -> Result<Vec<Piece>, BadRule> {
        let mut pieces = Vec::new();
        loop {
            let literal = self.take_until(&['{', '}', '[', ']']);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            match self.peek() {
                None if until.is_some() => return Err(BadRule::Unclosed('[')),
                None => return Ok(pieces),
                Some(end) if until == Some(end) => return Ok(pieces),
                Some('{') => {
                    self.bump();
                    pieces.push(Piece::Part(self.paths()?));
                    self.close('{', '}')?;
                }
                Some('[') if until.is_none() => {
                    self.bump();
                    pieces.push(Piece::Optional(self.template(Some(']'))?));
                    self.close('[', ']')?;
                }
                Some(other) => return Err(self.unexpected(other)),
            }
        }
    }

    fn paths(&mut self) -> Result<Part, BadRule> {
        let mut places = Vec::new();
        loop {
            self.skip_spaces();
            places.push(self.path()?);
            self.paths += 1;
            if self.paths > PATHS_MAX {
                return Err(BadRule::TooManyPaths);
            }
            self.skip_spaces();
            if !self.eat('|') {
                return Ok(Part(places));
            }
        }
    }

    fn path(&mut self) -> Result<Place, BadRule> {
        let root = self.word();
        if root != "$" {
            return self.rooted(root)?.ok_or_else(|| BadRule::Root(root.to_owned()));
        }
        let start = self.at;
        if self.eat('.') {
            let name = self.word();
            if let Some(place) = self.rooted(name)? {
                return Ok(place);
            }
        }
        self.at = start;
        self.body()
    }

    fn rooted(&mut self, root: &str) -> Result<Option<Place>, BadRule> {
        Ok(Some(match root {
            "body" => self.body()?,
            "headers" => Place::Header(self.name()?.to_ascii_lowercase()),
            "query" => Place::Query(self.name()?.to_owned()),
            "path" => Place::Path,
            "cloudevent" => {
                let name = self.name()?.to_ascii_lowercase();
                let slot = self.tree.add(vec![name.clone()]);
                Place::CloudEvent(format!("ce-{name}"), slot)
            }
            _ => return Ok(None),
        }))
    }

    fn body(&mut self) -> Result<Place, BadRule> {
        let steps = self.steps()?;
        Ok(if steps.is_empty() { Place::BodyHash } else { Place::Body(self.tree.add(steps)) })
    }

    /// The only name there is in headers and query; dots belong to it.
    fn name(&mut self) -> Result<&'a str, BadRule> {
        if self.rest().starts_with("['") {
            return self.bracketed();
        }
        if !self.eat('.') {
            return Err(BadRule::NameMissing);
        }
        let name = self.take_until(&STOPS[1..]);
        if name.is_empty() { Err(BadRule::NameMissing) } else { Ok(name) }
    }

    fn steps(&mut self) -> Result<Vec<String>, BadRule> {
        let mut steps = Vec::new();
        loop {
            let step = match self.peek() {
                Some('.') => {
                    self.bump();
                    self.word()
                }
                // In a template a bracket behind a path is inside of its braces.
                Some('[') => self.bracketed()?,
                _ => return Ok(steps),
            };
            if step.is_empty() {
                return Err(self.step_missing());
            }
            if steps.len() == STEPS_MAX {
                return Err(BadRule::TooManySteps);
            }
            steps.push(step.to_owned());
        }
    }

    fn bracketed(&mut self) -> Result<&'a str, BadRule> {
        self.bump();
        let quoted = self.eat('\'');
        let name = self.take_until(if quoted { &['\''] } else { &STOPS });
        if quoted {
            self.close('\'', '\'')?;
        } else if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected(name.chars().next().unwrap_or('[')));
        }
        self.close('[', ']')?;
        if name.is_empty() { Err(self.step_missing()) } else { Ok(name) }
    }

    fn word(&mut self) -> &'a str {
        self.take_until(&STOPS)
    }

    fn take_until(&mut self, stops: &[char]) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(stops).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn close(&mut self, open: char, close: char) -> Result<(), BadRule> {
        match self.peek() {
            Some(next) if next == close => {
                self.bump();
                Ok(())
            }
            None => Err(BadRule::Unclosed(open)),
            Some(other) => Err(self.unexpected(other)),
        }
    }

    fn end(&self) -> Result<(), BadRule> {
        self.peek().map_or(Ok(()), |rest| Err(self.unexpected(rest)))
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.bump();
        }
        there
    }

    fn skip_spaces(&mut self) {
        while self.eat(' ') {}
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn unexpected(&self, character: char) -> BadRule {
        BadRule::Unexpected(character, self.text[..self.at].to_owned())
    }

    fn step_missing(&self) -> BadRule {
        BadRule::StepMissing(self.text[..self.at].to_owned())
    }
}
