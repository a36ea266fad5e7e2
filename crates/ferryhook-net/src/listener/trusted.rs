//! Who sent a request when it came through proxies of ours.
//!
//! `X-Forwarded-For` grows to the right: each proxy adds whom it saw. So it is read from the
//! right, and only as far as the one who wrote an entry is trusted. Everything further left is a
//! stranger's claim.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hyper::HeaderMap;
use ipnet::IpNet;

/// The proxies whose word counts; none unless the operator names them.
#[derive(Debug, Clone, Default)]
pub struct Trusted(Arc<[IpNet]>);

impl Trusted {
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks.into())
    }

    pub fn sender(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut sender = peer.to_canonical();
        if self.0.is_empty() || !self.trusts(sender) {
            return sender;
        }
        let lines = headers.get_all("x-forwarded-for").into_iter().rev();
        let entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
        for entry in entries {
            let Some(address) = address(entry) else { break };
            sender = address;
            if !self.trusts(sender) {
                break;
            }
        }
        sender
    }

    /// Whether what this peer says about whom it speaks for counts.
    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// An address, which some proxies write with its port.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|at: SocketAddr| at.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests;
