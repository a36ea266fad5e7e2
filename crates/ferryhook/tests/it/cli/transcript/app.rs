//! Somebody's app on this machine: takes every request and says yes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

pub struct App {
    pub address: SocketAddr,
}

impl App {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || answer(stream));
            }
        });
        Self { address }
    }
}

/// Who hangs up in between has made up their mind.
fn answer(stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).ok()?;
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").ok()?;
    }
}
