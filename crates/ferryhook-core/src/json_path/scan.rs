//! The characters of a path, one after the other, and what they are made of: names, numbers, texts.

use super::{BadPath, PATH_BYTES_MAX};

pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

/// The largest whole number that every reader of JSON has exactly.
const INTEGER_MAX: i64 = (1 << 53) - 1;

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, BadPath> {
        if text.len() > PATH_BYTES_MAX {
            return Err(BadPath::new(0, format!("a path has at most {PATH_BYTES_MAX} bytes")));
        }
        Ok(Self { text, at: 0 })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.at += wanted.len();
        }
        is_there
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), BadPath> {
        if self.eat(wanted) { Ok(()) } else { Err(self.expected(&format!("{wanted:?}"))) }
    }

    /// Whether there were any.
    pub(super) fn skip_spaces(&mut self) -> bool {
        !self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).is_empty()
    }

    pub(super) fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !wanted(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// A name behind a dot.
    pub(super) fn name(&mut self) -> Result<&'t str, BadPath> {
        let mut is_first = true;
        let name = self.take_while(|c| {
            let is_start = c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
            let fits = is_start || (c.is_ascii_digit() && !is_first);
            is_first = false;
            fits
        });
        if name.is_empty() { Err(self.expected("a name")) } else { Ok(name) }
    }

    pub(super) fn integer(&mut self) -> Result<i64, BadPath> {
        let start = self.at;
        let is_negative = self.eat("-");
        let digits = self.take_while(|c| c.is_ascii_digit());
        let is_well_formed = match digits.as_bytes() {
            [] => false,
            [b'0'] => !is_negative,
            [first, ..] => *first != b'0',
        };
        let read: Option<i64> = digits.parse().ok().filter(|read| *read <= INTEGER_MAX);
        match read {
            Some(read) if is_well_formed => Ok(if is_negative { -read } else { read }),
            _ => Err(BadPath::new(start, "expected a whole number within ±(2^53 - 1)")),
        }
    }

    /// As it is written.
    pub(super) fn number(&mut self) -> Result<&'t str, BadPath> {
        let start = self.at;
        self.eat("-");
        let whole = self.take_while(|c| c.is_ascii_digit());
        let mut is_well_formed = !whole.is_empty() && (whole == "0" || !whole.starts_with('0'));
        if self.eat(".") {
            is_well_formed &= !self.take_while(|c| c.is_ascii_digit()).is_empty();
        }
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("-") || self.eat("+");
            is_well_formed &= !self.take_while(|c| c.is_ascii_digit()).is_empty();
        }
        if is_well_formed {
            Ok(&self.text[start..self.at])
        } else {
            Err(BadPath::new(start, "not a number"))
        }
    }

    /// A text in single or double quotes.
    pub(super) fn quoted(&mut self) -> Result<String, BadPath> {
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'));
        let Some(quote) = quote else { return Err(self.expected("a text in quotes")) };
        self.at += 1;
        let mut text = String::new();
        loop {
            let plain = self.take_while(|c| c != quote && c != '\\' && c >= ' ');
            text.push_str(plain);
            match self.peek() {
                Some('\\') => {
                    self.at += 1;
                    text.push(self.escape(quote)?);
                }
                Some(c) if c == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(_) => return Err(self.bad("a control character must be escaped")),
                None => return Err(self.bad("a text without an end")),
            }
        }
    }

    fn escape(&mut self, quote: char) -> Result<char, BadPath> {
        let Some(escape) = self.peek() else { return Err(self.bad("a text without an end")) };
        let character = match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '/' | '\\' => escape,
            _ if escape == quote => quote,
            'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.bad("no such escape")),
        };
        self.at += escape.len_utf8();
        Ok(character)
    }

    fn unicode(&mut self) -> Result<char, BadPath> {
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 => {
                self.expect("\\u")?;
                match self.hex()? {
                    second @ 0xdc00..0xe000 => {
                        0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                    }
                    _ => return Err(self.bad("half of a surrogate pair")),
                }
            }
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| self.bad("half of a surrogate pair"))
    }

    fn hex(&mut self) -> Result<u32, BadPath> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    pub(super) fn expected(&self, what: &str) -> BadPath {
        match self.peek() {
            Some(found) => BadPath::new(self.at, format!("expected {what}, found {found:?}")),
            None => BadPath::new(self.at, format!("expected {what}, found the end")),
        }
    }

    pub(super) fn bad(&self, what: &str) -> BadPath {
        BadPath::new(self.at, what)
    }
}
