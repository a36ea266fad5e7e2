//! Any address of a closed net, in any spelling. The nets are written down here once more, in
//! another form, so that a slip in the guard's own table does not go unseen.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use proptest::prelude::*;

use super::*;

const CLOSED_V4: [&str; 16] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
];

const CLOSED_V6: [&str; 17] = [
    "::/8",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/8",
    "200::/7",
    "400::/6",
    "800::/5",
    "1000::/4",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "4000::/2",
    "8000::/1",
    "fc00::/7",
    "fe80::/9",
    "ff00::/8",
];

fn nets_v4() -> Vec<Ipv4Net> {
    CLOSED_V4.iter().map(|net| net.parse().unwrap()).collect()
}

fn nets_v6() -> Vec<Ipv6Net> {
    CLOSED_V6.iter().map(|net| net.parse().unwrap()).collect()
}

fn in_closed_v4() -> impl Strategy<Value = Ipv4Addr> {
    (proptest::sample::select(nets_v4()), any::<u32>()).prop_map(|(net, random)| {
        Ipv4Addr::from(u32::from(net.network()) | (random & u32::from(net.hostmask())))
    })
}

fn in_closed_v6() -> impl Strategy<Value = Ipv6Addr> {
    (proptest::sample::select(nets_v6()), any::<u128>()).prop_map(|(net, random)| {
        Ipv6Addr::from(u128::from(net.network()) | (random & u128::from(net.hostmask())))
    })
}

/// How a host can be written that ends up at `ip`.
fn spellings_v4(ip: Ipv4Addr) -> Vec<String> {
    let number = u32::from(ip);
    let [a, b, c, d] = ip.octets();
    let percent: String = ip.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let wide: String =
        ip.to_string().chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).unwrap()).collect();
    let mapped = ip.to_ipv6_mapped().segments();
    vec![
        ip.to_string(),
        format!("{ip}."),
        number.to_string(),
        format!("{number:#x}"),
        format!("0{number:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{}", number & 0xff_ffff),
        format!("{a}.{b}.{}", number & 0xffff),
        format!("0{a:o}.{b:#X}.{}", number & 0xffff),
        ip.to_string().replace('.', "\u{3002}"),
        ip.to_string().replace('.', "%2E"),
        percent,
        wide,
        format!("[::ffff:{ip}]"),
        format!("[0:0:0:0:0:FFFF:{:x}:{:x}]", mapped[6], mapped[7]),
        format!("[::{ip}]"),
        format!("[64:ff9b::{ip}]"),
        format!("[2002:{:x}:{:x}::1]", mapped[6], mapped[7]),
    ]
}

fn spellings_v6(ip: Ipv6Addr) -> Vec<String> {
    let groups = ip.segments();
    let full: Vec<_> = groups.iter().map(|group| format!("{group:04X}")).collect();
    let [.., a, b, c, d] = ip.octets();
    let front: Vec<_> = groups[..6].iter().map(|group| format!("{group:x}")).collect();
    vec![
        format!("[{ip}]"),
        format!("[{}]", full.join(":")),
        format!("[{}:{a}.{b}.{c}.{d}]", front.join(":")),
    ]
}

proptest! {
    #[test]
    fn closed_v4_stays_closed(ip in in_closed_v4(), port in 1..=u16::MAX, secure: bool) {
        let scheme = if secure { "https" } else { "http" };
        prop_assert!(!closed().allows(ip.into()));
        for host in spellings_v4(ip) {
            let url = format!("{scheme}://{host}:{port}/hook");
            let refused = closed().target(&url);
            prop_assert!(matches!(refused, Err(Refusal::InsideAddress(_))), "{url}: {refused:?}");
        }
    }

    #[test]
    fn closed_v6_stays_closed(ip in in_closed_v6()) {
        // Mapped ones are judged by the IPv4 address that they are.
        prop_assume!(ip.to_ipv4_mapped().is_none());
        prop_assert!(!closed().allows(ip.into()));
        for host in spellings_v6(ip) {
            let refused = closed().target(&format!("http://{host}/"));
            prop_assert!(matches!(refused, Err(Refusal::InsideAddress(_))), "{host}: {refused:?}");
        }
    }

    /// And nothing else is: the guard is not just saying no.
    #[test]
    fn the_rest_is_open(v4: u32, v6: u128) {
        let v4 = Ipv4Addr::from(v4);
        let is_closed = nets_v4().iter().any(|net| net.contains(&v4));
        prop_assert_eq!(closed().allows(v4.into()), !is_closed);
        let v6 = Ipv6Addr::from((v6 >> 3) | (1 << 125)); // within 2000::/3
        let is_closed = nets_v6().iter().any(|net| net.contains(&v6));
        prop_assert_eq!(closed().allows(v6.into()), !is_closed);
    }

    /// The parser of what users type does not fall over, and never lets an inside address by.
    #[test]
    fn any_text_is_judged(text in "(https?:/{0,3})?[0-9a-fxXA-F.:\\[\\]@%/\\\\#?。①-]{0,30}") {
        if let Ok(target) = closed().target(&text)
            && let Host::Address(ip) = target.host()
        {
            prop_assert!(closed().allows(*ip));
        }
    }
}
