//! Numbers as they are written: decimal, of any length, compared exactly.

use std::cmp::Ordering;

/// `0.d₁d₂d₃… × 10^exponent`, with a first digit that is not zero. Borrows the digits.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'t> {
    is_negative: bool,
    /// The digits are in one or two pieces, because of the point. Both empty: zero.
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

/// Where exponents end. What is beyond is as good as infinite, or as zero.
const EXPONENT_MAX: i64 = 1 << 40;

impl<'t> Decimal<'t> {
    /// Of a number in JSON, or written somewhat more freely: `+1`, `.5`, `5.`, `007`.
    pub fn read(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (is_negative, bytes) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let (digits, exponent) = match bytes.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&bytes[..at], read_exponent(&bytes[at + 1..])?),
            None => (bytes, 0),
        };
        let (whole, fraction) = match digits.iter().position(|&byte| byte == b'.') {
            Some(at) => (&digits[..at], &digits[at + 1..]),
            None => (digits, &digits[..0]),
        };
        let is_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        Some(Self::new(is_negative, whole, fraction, exponent))
    }

    fn new(is_negative: bool, whole: &'t [u8], fraction: &'t [u8], exponent: i64) -> Self {
        let whole = trim_start(whole);
        let places = if whole.is_empty() {
            let significant = trim_start(fraction);
            let places = -((fraction.len() - significant.len()) as i64);
            return Self {
                is_negative: is_negative && !significant.is_empty(),
                whole,
                fraction: significant,
                exponent: if significant.is_empty() { 0 } else { exponent + places },
            };
        } else {
            whole.len() as i64
        };
        Self { is_negative, whole, fraction, exponent: exponent + places }
    }

    pub fn compare(&self, other: &Decimal<'_>) -> Ordering {
        match (self.sign(), other.sign()) {
            (mine, theirs) if mine != theirs => mine.cmp(&theirs),
            (0, _) => Ordering::Equal,
            (1, _) => self.magnitude(other),
            _ => other.magnitude(self),
        }
    }

    fn sign(&self) -> i8 {
        match (self.whole.is_empty() && self.fraction.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn magnitude(&self, other: &Decimal<'_>) -> Ordering {
        self.exponent.cmp(&other.exponent).then_with(|| {
            let mut mine = self.digits();
            let mut theirs = other.digits();
            loop {
                match (mine.next(), theirs.next()) {
                    (None, None) => return Ordering::Equal,
                    (mine, theirs) => match mine.unwrap_or(b'0').cmp(&theirs.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        other => return other,
                    },
                }
            }
        })
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied()
    }
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

fn read_exponent(bytes: &[u8]) -> Option<i64> {
    let (sign, digits) = match bytes.first()? {
        b'-' => (-1, &bytes[1..]),
        b'+' => (1, &bytes[1..]),
        _ => (1, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    let read = digits.iter().try_fold(0_i64, |sum, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        Some((sum * 10 + i64::from(digit)).min(EXPONENT_MAX))
    });
    read.map(|read| sign * read)
}
