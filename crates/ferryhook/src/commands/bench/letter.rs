//! The letter that every measurement sends: a request with 1 KiB of JSON and a number in it.
//!
//! It is written once for each connection; only the address and the number change, in place, so
//! that sending costs the sender as little as it can.

/// The whole body.
pub const BODY_BYTES: usize = 1024;

const OPENING: &[u8] = br#"{"number":""#;
const DIGITS: usize = 10;

#[derive(Debug, Clone)]
pub struct Letter {
    bytes: Vec<u8>,
    path_at: usize,
    path_length: usize,
    number_at: usize,
}

impl Letter {
    /// For paths that are as long as `path`.
    pub fn new(path: &str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: ferryhook\r\nuser-agent: ferryhook-bench\r\n\
             content-type: application/json\r\ncontent-length: {BODY_BYTES}\r\n\r\n"
        );
        Self {
            path_at: "POST ".len(),
            path_length: path.len(),
            number_at: head.len() + OPENING.len(),
            bytes: [head.into_bytes(), body()].concat(),
        }
    }

    pub fn write(&mut self, path: &str, number: u32) -> &[u8] {
        self.bytes[self.path_at..self.path_at + self.path_length].copy_from_slice(path.as_bytes());
        write_digits(&mut self.bytes[self.number_at..self.number_at + DIGITS], number);
        &self.bytes
    }
}

/// The body alone, again and again with another number.
#[derive(Debug, Clone)]
pub struct Enclosed(Vec<u8>);

impl Enclosed {
    pub fn new() -> Self {
        Self(body())
    }

    pub fn numbered(&mut self, number: u32) -> Vec<u8> {
        write_digits(&mut self.0[OPENING.len()..OPENING.len() + DIGITS], number);
        self.0.clone()
    }
}

fn write_digits(place: &mut [u8], number: u32) {
    let mut rest = number;
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// What number a body that was sent as a letter has.
pub fn number_of(body: &[u8]) -> Option<u32> {
    let digits = body.strip_prefix(OPENING)?.get(..DIGITS)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// An order as a shop would tell it. The ids are as hard to compress as real ones.
fn body() -> Vec<u8> {
    let mut noise = Noise(1);
    let mut text = String::from_utf8_lossy(OPENING).into_owned();
    text.push_str(&"0".repeat(DIGITS));
    text.push_str(&format!(
        r#"","type":"order.completed","created":"2026-01-01T00:00:00.000Z","customer":{{"id":"cus_{}","email":"ada@example.com","country":"GB"}},"currency":"EUR","items":["#,
        noise.hex(16)
    ));
    for item in 1..=6 {
        let comma = if item == 1 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}{{"sku":"{}","name":"Item {item}","quantity":{item},"price":{item}999}}"#,
            noise.hex(12)
        ));
    }
    text.push_str(r#"],"token":""#);
    let closing = r#""}"#;
    text.push_str(&noise.hex(BODY_BYTES - text.len() - closing.len()));
    text.push_str(closing);
    text.into_bytes()
}

/// The same for everyone who measures.
struct Noise(u64);

impl Noise {
    fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits + 16);
        while text.len() < digits {
            // The generator of Knuth's MMIX; its upper bits are good enough for this.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("{:08x}", self.0 >> 32));
        }
        text.truncate(digits);
        text
    }
}

#[cfg(test)]
mod tests;
