//! Follows HTTP/1 messages through the bytes of a connection, to see what the parser does not tell.
//!
//! The HTTP library quietly settles some doubts about where a message ends: it drops a length that
//! stands beside chunks, or a second one, and takes a bare line feed for the end of a line. Whoever
//! is between us and the sender may settle them differently. Nothing is refused here; the head is
//! only said to be in doubt. What this cannot follow the parser refuses by itself.

use super::framing::Misframed;

/// As much of a line as is looked at.
const LINE_KEPT: usize = 64;

const TWO_WAYS: Misframed = Misframed("Content-Length and Transfer-Encoding exclude each other.");
const TWO_LENGTHS: Misframed = Misframed("Content-Length stands there twice.");
const LONG_LENGTH: Misframed = Misframed("Content-Length is not a plain number.");
const BARE_FEED: Misframed = Misframed("A line of the head ends without a carriage return.");

#[derive(Debug, Default)]
pub(super) struct Heads {
    at: At,
    line: Line,
    length: Option<u64>,
    is_chunked: bool,
    begun: bool,
    doubt: Option<Misframed>,
}

#[derive(Debug, Default, PartialEq)]
enum At {
    #[default]
    Head,
    /// With this much of it to come.
    Body(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    /// HTTP/2, or nothing that could be followed.
    Elsewhere,
}

/// The beginning of the line that is being read.
#[derive(Debug, Default)]
struct Line {
    kept: Vec<u8>,
    length: usize,
    last: u8,
}

impl Heads {
    /// The first doubt there was. The connection is not to be used any further.
    pub(super) fn doubt(&self) -> Option<Misframed> {
        self.doubt
    }

    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.at {
                At::Elsewhere => return,
                At::Body(left) => self.skip(left, bytes, At::Body, At::Head),
                At::Chunk(left) => self.skip(left, bytes, At::Chunk, At::ChunkEnd),
                At::Head | At::ChunkSize | At::ChunkEnd | At::Trailers => self.read_line(bytes),
            };
        }
    }

    fn skip<'a>(&mut self, left: u64, bytes: &'a [u8], on: fn(u64) -> At, then: At) -> &'a [u8] {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - taken as u64;
        self.at = if left == 0 { then } else { on(left) };
        &bytes[taken..]
    }

    fn read_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.push(bytes);
            return &[];
        };
        self.line.push(&bytes[..end]);
        let mut line = std::mem::take(&mut self.line);
        match self.at {
            At::Head => self.head_line(&line),
            At::ChunkSize => self.chunk_size(&line),
            At::ChunkEnd => self.at = At::ChunkSize,
            _ if line.is_empty() => self.at = At::Head, // the trailers are over
            _ => {}
        }
        line.kept.clear();
        self.line.kept = line.kept; // its room is used again
        &bytes[end + 1..]
    }

    fn head_line(&mut self, line: &Line) {
        if line.last != b'\r' {
            self.doubt.get_or_insert(BARE_FEED);
        }
        if line.is_empty() {
            if self.begun {
                self.end_head(); // empty lines before a head are nothing
            }
            return;
        }
        if !std::mem::replace(&mut self.begun, true) {
            if line.kept.starts_with(b"PRI * HTTP/2.") {
                self.at = At::Elsewhere;
                self.doubt = None;
            }
            return;
        }
        let Some(colon) = line.kept.iter().position(|byte| *byte == b':') else { return };
        let (name, value) = line.kept.split_at(colon);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(&value[1..]).unwrap_or_default().trim();
            if self.length.is_some() {
                self.doubt.get_or_insert(TWO_LENGTHS);
            }
            match digits.parse().ok().filter(|_| line.length <= LINE_KEPT) {
                Some(length) => self.length = Some(length),
                None => drop(self.doubt.get_or_insert(LONG_LENGTH)),
            }
        }
    }

    fn end_head(&mut self) {
        if self.is_chunked && self.length.is_some() {
            self.doubt.get_or_insert(TWO_WAYS);
        }
        self.at = match (self.is_chunked, self.length) {
            (true, _) => At::ChunkSize,
            (false, Some(length)) if length > 0 => At::Body(length),
            (false, _) => At::Head,
        };
        (self.is_chunked, self.length, self.begun) = (false, None, false);
    }

    fn chunk_size(&mut self, line: &Line) {
        let digits = line.kept.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let digits = std::str::from_utf8(&line.kept[..digits]).unwrap_or_default();
        self.at = match u64::from_str_radix(digits, 16) {
            Ok(0) => At::Trailers,
            Ok(size) => At::Chunk(size),
            Err(_) => At::Elsewhere,
        };
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        let room = LINE_KEPT.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.length += bytes.len();
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    fn is_empty(&self) -> bool {
        self.length == 0 || (self.length == 1 && self.last == b'\r')
    }
}

#[cfg(test)]
mod tests;
