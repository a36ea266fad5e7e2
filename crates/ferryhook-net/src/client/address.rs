//! Which addresses are public: reachable by everyone, and nobody's inside.
//!
//! IPv4 is public unless listed here. IPv6 is the other way round: only the part that is handed
//! out to the world is, and of that not the nets that carry an IPv4 address within (6to4,
//! Teredo) or are for documentation. So mapped, compatible, translated (NAT64), unique local,
//! link-local and multicast addresses fall outside without being named.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First address and prefix length of each.
pub(super) const CLOSED_V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),          // "this" network
    ([10, 0, 0, 0], 8),         // private
    ([100, 64, 0, 0], 10),      // carrier-grade NAT; also metadata at 100.100.100.200
    ([127, 0, 0, 0], 8),        // loopback
    ([168, 63, 129, 16], 32),   // Azure's host agent, public by number only
    ([169, 254, 0, 0], 16),     // link-local; the metadata services
    ([172, 16, 0, 0], 12),      // private
    ([192, 0, 0, 0], 24),       // protocol assignments; also metadata at 192.0.0.192
    ([192, 0, 2, 0], 24),       // documentation
    ([192, 88, 99, 0], 24),     // 6to4 relays
    ([192, 168, 0, 0], 16),     // private
    ([198, 18, 0, 0], 15),      // benchmarking
    ([198, 51, 100, 0], 24),    // documentation
    ([203, 0, 113, 0], 24),     // documentation
    ([224, 0, 0, 0], 4),        // multicast
    ([240, 0, 0, 0], 4),        // reserved
    ([255, 255, 255, 255], 32), // broadcast
];

/// The part of IPv6 that is handed out.
const OPEN_V6: (u128, u32) = (0x2000 << 112, 3);

/// And within it, what is not public.
pub(super) const CLOSED_V6: [(u128, u32); 4] = [
    (0x2001 << 112, 23),     // protocol assignments; Teredo, ORCHID, benchmarking
    (0x2001_0db8 << 96, 32), // documentation
    (0x2002 << 112, 16),     // 6to4: any IPv4 address hides in it
    (0x3fff << 112, 20),     // documentation
];

pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let bits = u32::from(ip);
    !CLOSED_V4.iter().any(|&(first, length)| {
        let first = u32::from(Ipv4Addr::from(first));
        (bits ^ first) >> (32 - length) == 0
    })
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let bits = u128::from(ip);
    let within = |(first, length): (u128, u32)| (bits ^ first) >> (128 - length) == 0;
    within(OPEN_V6) && !CLOSED_V6.into_iter().any(within)
}
