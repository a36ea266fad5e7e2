//! Requests whose meaning two servers could disagree about.
//!
//! The HTTP library reads them, and each is read differently somewhere else; whoever sits between
//! us and the sender may be that other server. Pure: whoever answers says 400 and closes.

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING};
use hyper::{Request, Version};

/// What is wrong with how a request is framed, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misframed(pub &'static str);

/// Looks at the head only, and at what the accept loop has seen of it.
pub fn check<B>(request: &Request<B>) -> Result<(), Misframed> {
    if let Some(doubt) = request.extensions().get::<Misframed>() {
        return Err(*doubt);
    }
    host(request)?;
    body_length(request.headers())
}

fn host<B>(request: &Request<B>) -> Result<(), Misframed> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => Err(Misframed("The header Host stands there twice.")),
        (Some(host), None) if is_authority(host.as_bytes()) => Ok(()),
        (Some(_), None) => Err(Misframed("The header Host names no host.")),
        (None, _) => match request.version() {
            Version::HTTP_11 => Err(Misframed("The header Host is missing.")),
            _ => Ok(()), // older ones need none, newer ones have it in the target
        },
    }
}

fn body_length(headers: &HeaderMap) -> Result<(), Misframed> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else {
        return Ok(());
    };
    if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return Err(Misframed("The only Transfer-Encoding taken here is one \"chunked\"."));
    }
    match headers.contains_key(CONTENT_LENGTH) {
        true => Err(Misframed("Content-Length and Transfer-Encoding exclude each other.")),
        false => Ok(()),
    }
}

/// `name`, `name:port`, `[v6]` or `[v6]:port`.
fn is_authority(text: &[u8]) -> bool {
    let (is_name, rest) = match text.strip_prefix(b"[") {
        Some(inside) => match inside.iter().position(|byte| *byte == b']') {
            Some(end) => (is_address(&inside[..end]), &inside[end + 1..]),
            None => return false,
        },
        None => {
            let end = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
            (is_name(&text[..end]), &text[end..])
        }
    };
    is_name && is_port(rest)
}

fn is_name(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(byte))
}

fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
}

/// What follows the name: nothing, or a colon and digits (which may be none).
fn is_port(text: &[u8]) -> bool {
    match text.strip_prefix(b":") {
        Some(digits) => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        None => text.is_empty(),
    }
}

#[cfg(test)]
mod tests;
