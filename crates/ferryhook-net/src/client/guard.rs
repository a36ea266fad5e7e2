//! Who may be called. Users type the URLs; this keeps them from using us to reach what only we
//! can: the machine itself, its network, the cloud's metadata.
//!
//! A URL is judged when it is typed ([`Guard::target`]) and again at every call: the addresses
//! a name has at that moment are judged, and one of those is dialled, never the name. The
//! operator can allow networks; a name that belongs to some inside is then called if all of its
//! addresses are in those networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use ipnet::{IpNet, Ipv4Net};

use super::address::is_public;
use super::target::{Host, Target};

/// Which addresses may be dialled.
#[derive(Debug, Clone)]
pub struct Guard {
    allow: Arc<[IpNet]>,
}

/// Why a URL may not be called. Says nothing about our inside that was not in the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("this is not a complete URL")]
    Malformed,
    #[error("the URL is too long")]
    TooLong,
    #[error("only http and https URLs can be called")]
    Scheme,
    #[error("the URL must not contain a user name or password")]
    Credentials,
    #[error("port 0 cannot be called")]
    Port,
    #[error("{0} is not a name that can be looked up")]
    BadName(String),
    #[error("{0} is a name inside a network, not a public one")]
    InsideName(String),
    #[error("{0} is not a public address")]
    InsideAddress(IpAddr),
    #[error("the name leads to an address that is not public")]
    Inside,
}

impl Guard {
    /// Public addresses, and those in `allow`.
    pub fn new(allow: Vec<IpNet>) -> Self {
        Self { allow: allow.into_iter().map(unmapped).collect() }
    }

    pub fn allows(&self, ip: IpAddr) -> bool {
        is_public(ip) || self.lists(ip)
    }

    /// Parses and checks a URL as far as that goes without asking DNS: scheme, credentials,
    /// port, name, literal address.
    pub fn target(&self, url: &str) -> Result<Target, Refusal> {
        let target = Target::parse(url)?;
        self.check(&target)?;
        Ok(target)
    }

    /// The same for a target that may have been made under another guard.
    pub(super) fn check(&self, target: &Target) -> Result<(), Refusal> {
        match target.host() {
            Host::Address(ip) if !self.allows(*ip) => Err(Refusal::InsideAddress(*ip)),
            Host::Name { name, inside: true, .. } if self.allow.is_empty() => {
                Err(Refusal::InsideName(name.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a connection to `ip` may be used for this target.
    pub(super) fn admits(&self, target: &Target, ip: IpAddr) -> bool {
        match target.host() {
            Host::Name { inside: true, .. } => self.lists(ip),
            _ => self.allows(ip),
        }
    }

    /// The addresses to dial out of all that a name has. One that is forbidden spoils the
    /// others: such a name plays tricks, or is not ours to call.
    pub(super) fn vet(
        &self,
        target: &Target,
        mut answers: Vec<IpAddr>,
    ) -> Result<Vec<IpAddr>, Refusal> {
        self.check(target)?;
        for ip in &mut answers {
            *ip = ip.to_canonical();
        }
        if let Host::Name { this_machine: true, .. } = target.host() {
            // It always has both loopback addresses, and the operator may have meant one.
            answers.retain(|ip| self.lists(*ip));
        }
        if answers.is_empty() || !answers.iter().all(|ip| self.admits(target, *ip)) {
            return Err(Refusal::Inside);
        }
        Ok(answers)
    }

    fn lists(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.allow.iter().any(|net| net.contains(&ip))
    }
}

/// `::ffff:10.0.0.0/104` is `10.0.0.0/8`: addresses are compared in their plain form.
fn unmapped(net: IpNet) -> IpNet {
    let IpNet::V6(v6) = net else { return net };
    let plain = v6.network().to_ipv4_mapped().zip(v6.prefix_len().checked_sub(MAPPED_PREFIX));
    plain.and_then(|(ip, length)| Ipv4Net::new(ip, length).ok()).map_or(net, IpNet::V4)
}

const MAPPED_PREFIX: u8 = 96;

/// The addresses of this machine's own name.
pub(super) const THIS_MACHINE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

#[cfg(test)]
mod tests;
