//! Reads server-sent events: bytes come in pieces, messages go out whole.

/// The longest line. An event of ten megabytes may be six times as long when it is written as JSON.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    pub name: String,
    pub data: String,
}

#[derive(Debug, thiserror::Error)]
#[error("a line of the stream is too long")]
pub struct TooLong;

/// Where reading stands.
#[derive(Debug, Default)]
pub struct Messages {
    line: Vec<u8>,
    next: Message,
}

impl Messages {
    /// The messages that this piece completes.
    pub fn read(&mut self, piece: &[u8]) -> Result<Vec<Message>, TooLong> {
        let mut whole = Vec::new();
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            whole.extend(self.take(&line));
        }
        self.line.extend_from_slice(rest);
        match self.line.len() > LINE_BYTES_MAX {
            true => Err(TooLong),
            false => Ok(whole),
        }
    }

    fn take(&mut self, line: &[u8]) -> Option<Message> {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            let message = std::mem::take(&mut self.next);
            return Some(message).filter(|message| !message.data.is_empty());
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.next.name),
            "data" if self.next.data.is_empty() => value.clone_into(&mut self.next.data),
            "data" => {
                self.next.data.push('\n');
                self.next.data.push_str(value);
            }
            _ => {} // a sign of life, or something that is not for us
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nevent: request\r\nid: 1\r\ndata: {\"a\":\r\ndata: \"ü\"}\r\n\r\n\
                          :\n\ndata:x\n\nevent: lost\n\n";

    #[test]
    fn messages_are_whole_however_the_bytes_come() {
        let of = |name: &str, data: &str| Message { name: name.to_owned(), data: data.to_owned() };
        let expected = [of("request", "{\"a\":\n\"ü\"}"), of("", "x")];
        for size in 1..STREAM.len() {
            let mut messages = Messages::default();
            let pieces = STREAM.as_bytes().chunks(size);
            let read: Vec<_> = pieces.flat_map(|piece| messages.read(piece).unwrap()).collect();
            assert_eq!(read, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut messages = Messages::default();
        let piece = vec![b'x'; LINE_BYTES_MAX];
        assert!(messages.read(&piece).is_ok());
        assert!(messages.read(b"x").is_err());
    }
}
