use super::*;

/// Who sent it, when the proxies 10.0.0.0/8 and ::1 are ours.
fn sender(peer: &str, forwarded: &[&'static str]) -> String {
    let ours = ["10.0.0.0/8", "::1/128"].map(|network| network.parse().unwrap());
    let mut headers = HeaderMap::new();
    for line in forwarded {
        headers.append("x-forwarded-for", line.parse().unwrap());
    }
    Trusted::new(ours.into()).sender(peer.parse().unwrap(), &headers).to_string()
}

#[test]
fn a_strangers_word_does_not_count() {
    assert_eq!(sender("203.0.113.7", &["198.51.100.1"]), "203.0.113.7");
    let headers =
        HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), "1.2.3.4".parse().unwrap())]);
    let peer = "10.0.0.1".parse().unwrap();
    assert_eq!(Trusted::default().sender(peer, &headers), peer, "nobody is trusted by default");
}

#[test]
fn the_chain_is_walked_from_the_right_through_our_own() {
    assert_eq!(sender("10.0.0.1", &["203.0.113.7"]), "203.0.113.7");
    assert_eq!(sender("10.0.0.1", &["1.1.1.1, 203.0.113.7, 10.0.0.2"]), "203.0.113.7");
    assert_eq!(sender("10.0.0.1", &["1.1.1.1", "203.0.113.7,10.0.0.2"]), "203.0.113.7");
    assert_eq!(sender("::1", &["2001:db8::7"]), "2001:db8::7");
}

#[test]
fn an_entry_may_have_a_port_or_be_mapped() {
    assert_eq!(sender("10.0.0.1", &["203.0.113.7:4711"]), "203.0.113.7");
    assert_eq!(sender("10.0.0.1", &["[2001:db8::7]:4711"]), "2001:db8::7");
    assert_eq!(sender("10.0.0.1", &["[2001:db8::7]"]), "2001:db8::7");
    assert_eq!(sender("::ffff:10.0.0.1", &["::ffff:203.0.113.7"]), "203.0.113.7");
}

/// What cannot be read ends the walk at the last one that could.
#[test]
fn nonsense_is_not_followed() {
    assert_eq!(sender("10.0.0.1", &["1.1.1.1, unknown, 10.0.0.2"]), "10.0.0.2");
    assert_eq!(sender("10.0.0.1", &[""]), "10.0.0.1");
    assert_eq!(sender("10.0.0.1", &[]), "10.0.0.1");
    assert_eq!(sender("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
}
