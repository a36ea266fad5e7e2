//! HTTP/1.1 messages, read one after the other from a blocking connection.

use std::io::{self, BufRead, Read};

#[derive(Debug)]
pub struct Message {
    pub first_line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Message {
    /// `None` when the other end has hung up instead.
    pub fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let first_line = line(stream)?;
        if first_line.is_empty() {
            return Ok(None);
        }
        let mut headers = Vec::new();
        loop {
            match line(stream)? {
                line if line.is_empty() => break,
                line => match line.split_once(':') {
                    Some((name, value)) => {
                        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                    }
                    None => return Err(strange(&line)),
                },
            }
        }
        let mut message = Self { first_line, headers, body: Vec::new() };
        if message.header("transfer-encoding").is_some() {
            message.read_chunks(stream)?;
        } else if let Some(length) = message.header("content-length") {
            let length = length.parse().map_err(|_| strange(length))?;
            message.body.resize(length, 0);
            stream.read_exact(&mut message.body)?;
        }
        Ok(Some(message))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Of an answer.
    pub fn status(&self) -> Option<u16> {
        self.first_line.split(' ').nth(1)?.parse().ok()
    }

    fn read_chunks(&mut self, stream: &mut impl BufRead) -> io::Result<()> {
        loop {
            let size = line(stream)?;
            let size = u64::from_str_radix(&size, 16).map_err(|_| strange(&size))?;
            stream.take(size).read_to_end(&mut self.body)?;
            line(stream)?;
            if size == 0 {
                return Ok(());
            }
        }
    }
}

/// Without its end; nothing at the end of the stream.
fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? > 0 && !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}

fn strange(text: &str) -> io::Error {
    io::Error::other(format!("not HTTP: {text:?}"))
}
