//! Reads a path as it is written, and says what is wrong with it and where.

use super::scan::Scanner;
use super::{
    Comparison, Condition, Match, NESTING_MAX, Operand, Path, Pattern, Query, SEGMENTS_MAX,
    SELECTORS_MAX, Segment, Selector, is_singular, regular,
};
use crate::json::Document;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at byte {at} of the path)")]
pub struct BadPath {
    pub at: usize,
    pub message: String,
}

impl BadPath {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

pub(super) fn path(text: &str) -> Result<Path, BadPath> {
    let mut parser = Parser::new(text, false)?;
    parser.scan.expect("$")?;
    parser.rest_of_path()
}

pub(super) fn steps(text: &str) -> Result<Path, BadPath> {
    Parser::new(text, true)?.rest_of_path()
}

struct Parser<'t> {
    scan: Scanner<'t>,
    /// Names may have more in them than the standard allows.
    is_lenient: bool,
    nesting: usize,
    segments: usize,
    selectors: usize,
}

/// What stands in a filter before it is known what it is compared with, if anything.
enum Primary {
    Literal(Document<'static>),
    Query(Query),
    Value(Operand),
    Matches(Match),
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, is_lenient: bool) -> Result<Self, BadPath> {
        let scan = Scanner::new(text)?;
        Ok(Self { scan, is_lenient, nesting: 0, segments: 0, selectors: 0 })
    }

    fn rest_of_path(&mut self) -> Result<Path, BadPath> {
        let segments = self.segments()?;
        if !self.scan.is_at_end() {
            return Err(self.scan.expected("a dot, a bracket or the end"));
        }
        Ok(Path { segments })
    }

    fn segments(&mut self) -> Result<Vec<Segment>, BadPath> {
        let mut segments = Vec::new();
        loop {
            // Spaces belong to a path only if it goes on behind them.
            let behind = self.scan.rest().trim_start_matches([' ', '\t', '\n', '\r']);
            if !behind.starts_with(['.', '[']) {
                return Ok(segments);
            }
            self.scan.skip_spaces();
            self.segments += 1;
            if self.segments > SEGMENTS_MAX {
                return Err(self.scan.bad(&format!("a path has at most {SEGMENTS_MAX} steps")));
            }
            segments.push(self.segment()?);
        }
    }

    fn segment(&mut self) -> Result<Segment, BadPath> {
        let is_descendant = self.scan.eat("..");
        if self.scan.peek() == Some('[') {
            return Ok(Segment { selectors: self.bracketed()?, is_descendant });
        }
        if !is_descendant {
            self.scan.expect(".")?;
        }
        let selector = if self.scan.eat("*") {
            Selector::Wildcard
        } else if self.is_lenient && self.nesting == 0 {
            self.free_name()?
        } else {
            Selector::Name(self.scan.name()?.to_owned())
        };
        Ok(Segment { selectors: vec![selector], is_descendant })
    }

    fn free_name(&mut self) -> Result<Selector, BadPath> {
        const STOPS: &str = ".[](){}'\"`,*?!&|=<>";
        let is_free = |c: char| !STOPS.contains(c) && !c.is_whitespace() && !c.is_control();
        let name = self.scan.take_while(is_free);
        if name.is_empty() {
            return Err(self.scan.expected("a name"));
        }
        Ok(match name.parse() {
            Ok(index) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                Selector::NameOrIndex(name.to_owned(), index)
            }
            _ => Selector::Name(name.to_owned()),
        })
    }

    fn bracketed(&mut self) -> Result<Vec<Selector>, BadPath> {
        self.scan.expect("[")?;
        let mut selectors = Vec::new();
        loop {
            self.scan.skip_spaces();
            self.selectors += 1;
            if self.selectors > SELECTORS_MAX {
                let problem = format!("a path has at most {SELECTORS_MAX} selectors in brackets");
                return Err(self.scan.bad(&problem));
            }
            selectors.push(self.selector()?);
            self.scan.skip_spaces();
            if self.scan.eat("]") {
                return Ok(selectors);
            }
            if !self.scan.eat(",") {
                return Err(self.scan.expected("\",\" or \"]\""));
            }
        }
    }

    fn selector(&mut self) -> Result<Selector, BadPath> {
        match self.scan.peek() {
            Some('\'' | '"') => Ok(Selector::Name(self.scan.quoted()?)),
            Some('*') => {
                self.scan.eat("*");
                Ok(Selector::Wildcard)
            }
            Some('?') => {
                self.scan.eat("?");
                self.nested(|parser| parser.any().map(Selector::Filter))
            }
            Some('-' | '0'..='9' | ':') => self.index_or_slice(),
            _ => Err(self.scan.expected("a name in quotes, a number, \"*\" or \"?\"")),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector, BadPath> {
        let start = match self.scan.peek() {
            Some(':') => None,
            _ => Some(self.scan.integer()?),
        };
        // A bracket or comma may follow behind spaces, which the caller skips.
        self.scan.skip_spaces();
        if !self.scan.eat(":") {
            return start.map(Selector::Index).ok_or_else(|| self.scan.expected("a number"));
        }
        let end = self.slice_number()?;
        let step = if self.scan.eat(":") { self.slice_number()? } else { None };
        Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
    }

    fn slice_number(&mut self) -> Result<Option<i64>, BadPath> {
        self.scan.skip_spaces();
        let number = match self.scan.peek() {
            Some('-' | '0'..='9') => Some(self.scan.integer()?),
            _ => None,
        };
        self.scan.skip_spaces();
        Ok(number)
    }

    /// The only way in which this calls itself.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, BadPath>,
    ) -> Result<T, BadPath> {
        if self.nesting == NESTING_MAX {
            let problem = format!("filters and brackets nest at most {NESTING_MAX} deep");
            return Err(self.scan.bad(&problem));
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    fn any(&mut self) -> Result<Condition, BadPath> {
        let first = self.all()?;
        let rest = self.chain("||", Self::all)?;
        Ok(if rest.is_empty() { first } else { Condition::Any(joined(first, rest)) })
    }

    fn all(&mut self) -> Result<Condition, BadPath> {
        let first = self.basic()?;
        let rest = self.chain("&&", Self::basic)?;
        Ok(if rest.is_empty() { first } else { Condition::All(joined(first, rest)) })
    }

    fn chain(
        &mut self,
        operator: &str,
        parse: impl Fn(&mut Self) -> Result<Condition, BadPath>,
    ) -> Result<Vec<Condition>, BadPath> {
        let mut rest = Vec::new();
        loop {
            self.scan.skip_spaces();
            if !self.scan.eat(operator) {
                return Ok(rest);
            }
            rest.push(parse(self)?);
        }
    }

    fn basic(&mut self) -> Result<Condition, BadPath> {
        self.scan.skip_spaces();
        if self.scan.eat("!") {
            self.scan.skip_spaces();
            let inner = match self.scan.peek() {
                Some('(') => self.parenthesis()?,
                _ => {
                    let primary = self.primary()?;
                    self.test(primary)?
                }
            };
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.scan.peek() == Some('(') {
            return self.parenthesis();
        }
        let left = self.primary()?;
        let behind = self.scan.rest().trim_start_matches([' ', '\t', '\n', '\r']);
        if !behind.starts_with(['=', '!', '<', '>']) {
            return self.test(left);
        }
        self.scan.skip_spaces();
        let comparison = self.comparison()?;
        self.scan.skip_spaces();
        let left = self.operand(left)?;
        let right = self.primary()?;
        Ok(Condition::Compare(left, comparison, self.operand(right)?))
    }

    fn parenthesis(&mut self) -> Result<Condition, BadPath> {
        self.scan.expect("(")?;
        let inner = self.nested(Self::any)?;
        self.scan.skip_spaces();
        self.scan.expect(")")?;
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<Comparison, BadPath> {
        const ALL: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let found = ALL.iter().find(|(text, _)| self.scan.eat(text));
        found.map(|(_, comparison)| *comparison).ok_or_else(|| self.scan.expected("a comparison"))
    }

    fn primary(&mut self) -> Result<Primary, BadPath> {
        match self.scan.peek() {
            Some('@' | '$') => self.query().map(Primary::Query),
            Some('\'' | '"') => {
                let text = serde_json::Value::from(self.scan.quoted()?).to_string();
                self.literal(text)
            }
            Some('-' | '0'..='9') => {
                let text = self.scan.number()?.to_owned();
                self.literal(text)
            }
            Some('a'..='z') => {
                let word =
                    self.scan.take_while(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')).to_owned();
                match &*word {
                    "true" | "false" | "null" if self.scan.peek() != Some('(') => {
                        self.literal(word)
                    }
                    _ => self.function(&word),
                }
            }
            _ => Err(self.scan.expected("a path, a value or a function")),
        }
    }

    fn literal(&self, text: String) -> Result<Primary, BadPath> {
        let read = Document::read(text).map(Primary::Literal);
        read.map_err(|error| self.scan.bad(&error.to_string()))
    }

    fn query(&mut self) -> Result<Query, BadPath> {
        let is_relative = self.scan.eat("@");
        if !is_relative {
            self.scan.expect("$")?;
        }
        Ok(Query { is_relative, segments: self.segments()? })
    }

    fn function(&mut self, name: &str) -> Result<Primary, BadPath> {
        if !matches!(name, "length" | "count" | "value" | "match" | "search") {
            return Err(self.scan.bad(&format!("there is no function {name:?}")));
        }
        self.scan.expect("(")?;
        let made = self.nested(|parser| {
            Ok(match name {
                "length" => Primary::Value(Operand::Length(Box::new(parser.value_argument()?))),
                "count" => Primary::Value(Operand::Count(parser.nodes_argument()?)),
                "value" => Primary::Value(Operand::Value(parser.nodes_argument()?)),
                _ => {
                    let text = parser.value_argument()?;
                    parser.scan.expect(",")?;
                    let is_whole = name == "match";
                    let pattern = pattern(parser.value_argument()?, is_whole);
                    Primary::Matches(Match { text, pattern, is_whole })
                }
            })
        })?;
        self.scan.expect(")")?;
        Ok(made)
    }

    fn value_argument(&mut self) -> Result<Operand, BadPath> {
        self.scan.skip_spaces();
        let argument = self.primary()?;
        let argument = self.operand(argument)?;
        self.scan.skip_spaces();
        Ok(argument)
    }

    fn nodes_argument(&mut self) -> Result<Query, BadPath> {
        self.scan.skip_spaces();
        let Some('@' | '$') = self.scan.peek() else {
            return Err(self.scan.expected("a path that starts with @ or $"));
        };
        let query = self.query()?;
        self.scan.skip_spaces();
        Ok(query)
    }

    fn operand(&self, primary: Primary) -> Result<Operand, BadPath> {
        match primary {
            Primary::Literal(literal) => Ok(Operand::Literal(literal)),
            Primary::Value(operand) => Ok(operand),
            Primary::Query(query) if is_singular(&query.segments) => Ok(Operand::Single(query)),
            Primary::Query(_) => Err(self.scan.bad("only a path to a single value has a value")),
            Primary::Matches(_) => Err(self.scan.bad("match and search have no value to compare")),
        }
    }

    fn test(&self, primary: Primary) -> Result<Condition, BadPath> {
        match primary {
            Primary::Query(query) => Ok(Condition::Exists(query)),
            Primary::Matches(found) => Ok(Condition::Matches(Box::new(found))),
            Primary::Literal(_) => Err(self.scan.bad("a value alone is no condition")),
            Primary::Value(_) => Err(self.scan.bad("the result of the function must be compared")),
        }
    }
}

fn joined(first: Condition, rest: Vec<Condition>) -> Vec<Condition> {
    std::iter::once(first).chain(rest).collect()
}

fn pattern(operand: Operand, is_whole: bool) -> Pattern {
    let Operand::Literal(literal) = &operand else { return Pattern::Found(operand) };
    let text = literal.root().as_text();
    text.and_then(|text| regular::of_path(&text, is_whole)).map_or(Pattern::Never, Pattern::Known)
}
