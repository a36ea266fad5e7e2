//! The guard against a list of everything that has been tried on such guards, and against
//! random addresses in every spelling.

use std::net::IpAddr;

use super::*;

mod spellings;
mod urls;

fn closed() -> Guard {
    Guard::new(Vec::new())
}

fn allowing(nets: &[&str]) -> Guard {
    Guard::new(nets.iter().map(|net| net.parse().unwrap()).collect())
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn addresses_that_everyone_can_reach_are_allowed() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2001:200::",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700:4700::1111",
        "2a00:1450:4001:80b::200e",
        "3ffe:ffff::1",
        "::ffff:8.8.8.8",
    ] {
        assert!(closed().allows(ip(text)), "{text}");
    }
}

#[test]
fn addresses_inside_something_are_not() {
    for text in [
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.0",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.192",
        "192.0.2.255",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.254",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::8.8.8.8",
        "64:ff9b::127.0.0.1",
        "64:ff9b:1::10.0.0.1",
        "100::1",
        "100:0:0:1::1",
        "1fff:ffff::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:1ff:ffff::1",
        "2001:db8::1",
        "2002::1",
        "2002:7f00:1::1",
        "2002:a00:1::",
        "2002:808:808::1",
        "3fff::1",
        "3fff:fff::1",
        "4000::1",
        "5f00::1",
        "8000::1",
        "fc00::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fdff::1",
        "fe00::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff00::1",
        "ff02::1",
        "ff0e::1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        assert!(!closed().allows(ip(text)), "{text}");
    }
}

#[test]
fn the_operator_can_allow_networks_and_nothing_beside_them() {
    let guard = allowing(&["10.1.0.0/16", "fd00::/8"]);
    for text in ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "8.8.8.8"] {
        assert!(guard.allows(ip(text)), "{text}");
    }
    for text in ["10.2.0.1", "127.0.0.1", "fc00::1", "::10.1.2.3", "64:ff9b::10.1.2.3"] {
        assert!(!guard.allows(ip(text)), "{text}");
    }
}

/// However the operator writes the network, it is the same one.
#[test]
fn a_mapped_network_is_the_plain_one() {
    let guard = allowing(&["::ffff:10.0.0.0/104", "::ffff:127.0.0.1/128"]);
    for text in ["10.255.0.1", "::ffff:10.255.0.1", "127.0.0.1"] {
        assert!(guard.allows(ip(text)), "{text}");
    }
    for text in ["127.0.0.2", "192.168.0.1", "::1"] {
        assert!(!guard.allows(ip(text)), "{text}");
    }
    // Shorter than the mapping itself it is a net of IPv6 and says nothing of IPv4.
    assert!(!allowing(&["::/0"]).allows(ip("127.0.0.1")));
    assert!(allowing(&["::/0"]).allows(ip("::1")));
}

#[test]
fn one_forbidden_answer_spoils_the_others() {
    let target = closed().target("https://hooks.example.com/").unwrap();
    let vet = |answers: &[&str]| closed().vet(&target, answers.iter().map(|a| ip(a)).collect());
    assert_eq!(vet(&["8.8.8.8", "::ffff:1.1.1.1"]), Ok(vec![ip("8.8.8.8"), ip("1.1.1.1")]));
    for answers in [
        &["8.8.8.8", "127.0.0.1"][..],
        &["10.0.0.1", "8.8.8.8"],
        &["2606:4700::1", "fe80::1"],
        &["8.8.8.8", "64:ff9b::8.8.8.8"],
        &[],
    ] {
        assert_eq!(vet(answers), Err(Refusal::Inside), "{answers:?}");
    }
}

/// A name like `db.internal` may lead only into the allowed networks, not to the world.
#[test]
fn a_name_from_inside_is_held_to_the_allowed_networks() {
    let guard = allowing(&["10.0.0.0/8"]);
    let target = guard.target("http://db.internal/").unwrap();
    assert!(guard.vet(&target, vec![ip("10.0.0.1")]).is_ok());
    assert_eq!(guard.vet(&target, vec![ip("8.8.8.8")]), Err(Refusal::Inside));
    assert_eq!(guard.vet(&target, vec![ip("10.0.0.1"), ip("127.0.0.1")]), Err(Refusal::Inside));
}

#[test]
fn this_machine_is_called_by_the_address_that_is_allowed() {
    let vet = |nets: &[&str]| {
        let guard = allowing(nets);
        guard.vet(&guard.target("http://localhost:9000/").unwrap(), THIS_MACHINE.to_vec())
    };
    assert_eq!(vet(&["127.0.0.0/8"]), Ok(vec![ip("127.0.0.1")]));
    assert_eq!(vet(&["::1/128"]), Ok(vec![ip("::1")]));
    assert_eq!(vet(&["127.0.0.0/8", "::1/128"]), Ok(THIS_MACHINE.to_vec()));
    assert_eq!(vet(&["10.0.0.0/8"]), Err(Refusal::Inside));
}

/// What was fine under one guard is asked about again under the next.
#[test]
fn a_target_does_not_carry_its_permission_along() {
    let lax = allowing(&["127.0.0.0/8"]);
    for url in ["http://127.0.0.1/", "http://localhost/"] {
        let target = lax.target(url).unwrap();
        assert!(closed().vet(&target, vec![ip("127.0.0.1")]).is_err(), "{url}");
        assert!(!closed().admits(&target, ip("127.0.0.1")), "{url}");
    }
}
