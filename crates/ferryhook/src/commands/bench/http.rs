//! As much of HTTP/1.1 as the load and its sink need: one message after the other over a
//! connection that is kept, with a length or in chunks. A library would cost more than what is
//! measured.

use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 1024 * 1024;
const READ_BYTES: usize = 4 * 1024;

/// One end of a connection.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    /// What has come and was not taken yet.
    received: BytesMut,
}

impl Wire {
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::new(TcpStream::connect(address).await?))
    }

    pub fn new(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true); // a socket that refuses this is only slower
        Self { stream, received: BytesMut::new() }
    }

    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Shows the next message, head and body; `None` when the other end has hung up instead.
    pub async fn receive<T>(
        &mut self,
        see: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> io::Result<Option<T>> {
        loop {
            if let Some(message) = Message::parse(&self.received)? {
                let (seen, length) = (see(message.head, &message.body), message.length);
                self.received.advance(length);
                return Ok(Some(seen));
            }
            self.received.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return match self.received.is_empty() {
                    true => Ok(None),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }
}

/// The number in the first line of an answer.
pub fn status(head: &[u8]) -> Option<u16> {
    std::str::from_utf8(head.get(9..12)?).ok()?.parse().ok()
}

#[derive(Debug, PartialEq)]
struct Message<'a> {
    head: &'a [u8],
    body: Cow<'a, [u8]>,
    /// All of it, as it was sent.
    length: usize,
}

impl<'a> Message<'a> {
    /// `None` as long as its end has not come.
    fn parse(bytes: &'a [u8]) -> io::Result<Option<Self>> {
        let Some(head_length) = find(bytes, b"\r\n\r\n") else {
            return bounded(bytes.len(), HEAD_BYTES_MAX).map(|()| None);
        };
        let (head, rest) = (&bytes[..head_length], &bytes[head_length + 4..]);
        let (body, body_length) = match Framing::of(head)? {
            Framing::Length(length) => match rest.get(..length) {
                Some(body) => (Cow::Borrowed(body), length),
                None => return Ok(None),
            },
            Framing::Chunks => match join_chunks(rest)? {
                Some((body, length)) => (Cow::Owned(body), length),
                None => return Ok(None),
            },
        };
        Ok(Some(Self { head, body, length: head_length + 4 + body_length }))
    }
}

enum Framing {
    Length(usize),
    Chunks,
}

impl Framing {
    fn of(head: &[u8]) -> io::Result<Self> {
        let mut length = 0;
        for line in head.split(|byte| *byte == b'\n').skip(1) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"transfer-encoding") {
                return Ok(Self::Chunks);
            }
            if name.eq_ignore_ascii_case(b"content-length") {
                length = parse(value, 10)?;
            }
        }
        bounded(length, BODY_BYTES_MAX)?;
        Ok(Self::Length(length))
    }
}

/// The body, and how many bytes it took; `None` as long as the last chunk has not come.
fn join_chunks(bytes: &[u8]) -> io::Result<Option<(Vec<u8>, usize)>> {
    let (mut body, mut place) = (Vec::new(), 0);
    loop {
        let Some(line_length) = find(&bytes[place..], b"\r\n") else { return Ok(None) };
        let line = &bytes[place..place + line_length];
        let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
        let size = parse(size.trim_ascii(), 16)?;
        bounded(body.len().saturating_add(size), BODY_BYTES_MAX)?;
        place += line_length + 2;
        if size == 0 {
            // Trailers, if any, and an empty line.
            let end = find(&bytes[place - 2..], b"\r\n\r\n");
            return Ok(end.map(|end| (body, place - 2 + end + 4)));
        }
        let Some(chunk) = bytes.get(place..place + size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        place += size + 2;
        if place > bytes.len() {
            return Ok(None);
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parse(digits: &[u8], radix: u32) -> io::Result<usize> {
    let number = std::str::from_utf8(digits).ok();
    number.and_then(|text| usize::from_str_radix(text, radix).ok()).ok_or_else(strange)
}

fn bounded(bytes: usize, max: usize) -> io::Result<()> {
    if bytes > max { Err(strange()) } else { Ok(()) }
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not HTTP as it was expected")
}

#[cfg(test)]
mod tests;
