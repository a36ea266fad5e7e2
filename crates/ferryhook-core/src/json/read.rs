//! Reads a text once, from left to right, with a list instead of the stack.

use super::{DEPTH_MAX, Mark, NODES_MAX, Node, NotJson};

pub(super) fn nodes(text: &str) -> Result<Vec<Node>, NotJson> {
    if u32::try_from(text.len()).is_err() {
        return Err(NotJson::TooLarge);
    }
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
        nodes: Vec::with_capacity((text.len() / 8).min(NODES_MAX) + 4),
        open: Vec::with_capacity(16),
    };
    reader.document()?;
    Ok(reader.nodes)
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The lists and objects that are not closed yet.
    open: Vec<usize>,
}

type Read = Result<(), NotJson>;

impl Reader<'_> {
    fn document(&mut self) -> Read {
        self.value()?;
        while let Some(&inside) = self.open.last() {
            self.skip_spaces();
            let is_first = inside + 1 == self.nodes.len();
            let is_list = self.nodes[inside].kind == Mark::List;
            match self.peek() {
                Some(b']') if is_list => self.close(inside),
                Some(b'}') if !is_list => self.close(inside),
                Some(b',') if !is_first => {
                    self.at += 1;
                    self.skip_spaces();
                    self.element(is_list)?;
                }
                Some(_) if is_first => self.element(is_list)?,
                _ => return Err(self.bad("expected a comma or a closing bracket")),
            }
        }
        self.skip_spaces();
        if self.at < self.bytes.len() {
            return Err(self.bad("expected the end"));
        }
        Ok(())
    }

    fn element(&mut self, is_list: bool) -> Read {
        if is_list {
            return self.value();
        }
        if self.peek() != Some(b'"') {
            return Err(self.bad("expected a name in quotes"));
        }
        self.text()?;
        self.skip_spaces();
        if self.peek() != Some(b':') {
            return Err(self.bad("expected a colon"));
        }
        self.at += 1;
        self.value()
    }

    /// A whole one, or the opening of a list or object.
    fn value(&mut self) -> Read {
        self.skip_spaces();
        match self.peek() {
            Some(b'"') => self.text(),
            Some(b'{') => self.open(Mark::Object),
            Some(b'[') => self.open(Mark::List),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Mark::True),
            Some(b'f') => self.word(b"false", Mark::False),
            Some(b'n') => self.word(b"null", Mark::Null),
            _ => Err(self.bad("expected a value")),
        }
    }

    fn open(&mut self, kind: Mark) -> Read {
        if self.open.len() == DEPTH_MAX {
            return Err(NotJson::TooDeep);
        }
        self.open.push(self.nodes.len());
        self.push(kind, self.at, self.at)?;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, opened: usize) {
        self.open.pop();
        self.at += 1;
        let end = self.nodes.len() as u32;
        let node = &mut self.nodes[opened];
        node.end = end;
        node.bytes = self.at as u32 - node.at;
    }

    fn text(&mut self) -> Read {
        let start = self.at + 1;
        let mut at = start;
        let mut kind = Mark::Text;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            at += rest.iter().position(|byte| ENDS[*byte as usize]).unwrap_or(rest.len());
            match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    kind = Mark::Escaped;
                    at += 1;
                    at += match self.bytes.get(at) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 1,
                        Some(b'u') if hex(self.bytes, at + 1).is_some() => 5,
                        _ => return self.fail(at, "no such escape"),
                    };
                }
                Some(_) => return self.fail(at, "a control character in a text"),
                None => return self.fail(at, "a text without an end"),
            }
        }
        self.push(kind, start, at)?;
        self.at = at + 1;
        Ok(())
    }

    fn number(&mut self) -> Read {
        let start = self.at;
        let mut at = start + usize::from(self.bytes[start] == b'-');
        let whole = digits(self.bytes, at);
        if whole == 0 || (whole > 1 && self.bytes[at] == b'0') {
            return self.fail(at, "not a number");
        }
        at += whole;
        if self.bytes.get(at) == Some(&b'.') {
            let fraction = digits(self.bytes, at + 1);
            if fraction == 0 {
                return self.fail(at, "not a number");
            }
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            at += 1 + usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(self.bytes, at);
            if exponent == 0 {
                return self.fail(at, "not a number");
            }
            at += exponent;
        }
        self.push(Mark::Number, start, at)?;
        self.at = at;
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: Mark) -> Read {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.bad("expected a value"));
        }
        self.push(kind, self.at, self.at + word.len())?;
        self.at += word.len();
        Ok(())
    }

    fn push(&mut self, kind: Mark, start: usize, behind: usize) -> Read {
        if self.nodes.len() == NODES_MAX {
            return Err(NotJson::TooLarge);
        }
        let end = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { kind, at: start as u32, bytes: (behind - start) as u32, end });
        Ok(())
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn bad(&self, what: &'static str) -> NotJson {
        NotJson::Malformed(self.at, what)
    }

    fn fail(&self, at: usize, what: &'static str) -> Read {
        Err(NotJson::Malformed(at, what))
    }
}

/// What a plain piece of text ends at.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        ends[byte] = true;
        byte += 1;
    }
    ends[b'"' as usize] = true;
    ends[b'\\' as usize] = true;
    ends
};

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn hex(bytes: &[u8], from: usize) -> Option<u32> {
    let digits = bytes.get(from..from + 4)?;
    digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | char::from(digit).to_digit(16)?))
}

/// Half of a surrogate pair without the other half is no character, and stands there as the one
/// that says so.
pub(super) fn unescaped(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let bytes = rest.as_bytes();
        let (character, length) = match bytes.get(at + 1) {
            Some(b'u') => unicode(bytes, at),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(&other) => (char::from(other), 2),
            None => return text,
        };
        text.push(character);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

fn unicode(bytes: &[u8], at: usize) -> (char, usize) {
    let first = hex(bytes, at + 2).unwrap_or(0xfffd);
    if let 0xd800..0xdc00 = first
        && bytes.get(at + 6..at + 8) == Some(b"\\u")
        && let Some(second @ 0xdc00..0xe000) = hex(bytes, at + 8)
    {
        let both = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}
