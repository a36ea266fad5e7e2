//! A text that is looked for in what events brought.

use ferryhook_core::Event;

/// Compared without regard to the case of ASCII letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(Vec<u8>);

impl Text {
    pub fn new(text: &str) -> Self {
        Self(text.bytes().map(|byte| byte.to_ascii_lowercase()).collect())
    }

    /// Whether the body has it, or the name or the value of a header.
    pub fn is_in(&self, event: &Event) -> bool {
        let mut headers = event.headers.iter();
        self.is_within(event.body.as_bytes())
            || headers.any(|(name, value)| {
                self.is_within(name.as_bytes()) || self.is_within(value.as_bytes())
            })
            || event.payload.as_ref().is_some_and(|payload| {
                serde_json::to_vec(payload).is_ok_and(|text| self.is_within(&text))
            })
    }

    /// Goes from one place where the first letter stands to the next: most of a body is passed over
    /// at the speed of memory.
    fn is_within(&self, bytes: &[u8]) -> bool {
        let Some((first, rest)) = self.0.split_first() else { return true };
        let mut left = bytes;
        while let Some(at) = left.iter().position(|byte| byte.to_ascii_lowercase() == *first) {
            left = &left[at + 1..];
            let Some(next) = left.get(..rest.len()) else { return false };
            if next.iter().zip(rest).all(|(byte, wanted)| byte.to_ascii_lowercase() == *wanted) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use ferryhook_core::{Headers, samples};

    use super::*;

    fn event(body: &[u8]) -> Event {
        let headers = Headers::from_iter([("X-Shop", "Uhl & Söhne")]);
        Event { body: body.to_vec().into(), payload: None, headers, ..samples::event() }
    }

    #[test]
    fn it_is_found_wherever_it_stands() {
        let paid = event(br#"{"order":"ORD-77","note":"aab"}"#);
        for text in ["ord-77", "ORD-77\"", "aab", "x-shop", "UHL & S", "{", "}"] {
            assert!(Text::new(text).is_in(&paid), "{text}");
        }
        for text in ["ord-78", "aabb", "}}", "shop:"] {
            assert!(!Text::new(text).is_in(&paid), "{text}");
        }
        assert!(Text::new("ä").is_in(&event("ä".as_bytes())));
        assert!(Text::new("x").is_in(&event(&[0xff, b'X', 0xfe])));
    }
}
