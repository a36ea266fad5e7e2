//! Numbered bodies: from its number everyone can tell every byte that a parcel must have.

use crate::dice::Dice;

const DIGITS: usize = 10;
/// Most are small, some need many packets.
const SMALL_BYTES_MAX: u64 = 2 * 1024;
const LARGE_BYTES_MAX: u64 = 100 * 1024;

/// The number, then bytes that are no text.
pub fn pack(number: u64) -> Vec<u8> {
    let mut dice = Dice(number);
    let most = if dice.roll(20) == 0 { LARGE_BYTES_MAX } else { SMALL_BYTES_MAX };
    let length = dice.roll(most) as usize;
    [format!("{number:0DIGITS$}:").into_bytes(), dice.bytes(length)].concat()
}

/// The number of a body that is whole.
pub fn unpack(body: &[u8]) -> Result<u64, String> {
    let digits = body.get(..DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
    let number = digits.and_then(|digits| digits.parse().ok()).ok_or("a body without number")?;
    match body == pack(number) {
        true => Ok(number),
        false => Err(format!("parcel {number} is not as it was sent")),
    }
}
