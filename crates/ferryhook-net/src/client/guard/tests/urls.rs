//! URLs and what becomes of them. Verdicts are the guard's without any allowed network.

use super::*;

/// How a refusal is called in the tables.
fn verdict(url: &str) -> &'static str {
    match closed().target(url) {
        Ok(_) => "fine",
        Err(Refusal::Malformed) => "malformed",
        Err(Refusal::TooLong) => "too long",
        Err(Refusal::Scheme) => "scheme",
        Err(Refusal::Credentials) => "credentials",
        Err(Refusal::Port) => "port",
        Err(Refusal::BadName(_)) => "bad name",
        Err(Refusal::InsideName(_)) => "inside name",
        Err(Refusal::InsideAddress(_)) => "inside address",
        Err(Refusal::Inside) => "inside",
    }
}

#[track_caller]
fn all_are(expected: &str, urls: &[&str]) {
    let wrong: Vec<_> = urls
        .iter()
        .map(|url| (url, verdict(url)))
        .filter(|(_, verdict)| *verdict != expected)
        .collect();
    assert!(wrong.is_empty(), "not {expected}: {wrong:#?}");
}

#[test]
fn ordinary_urls_are_fine() {
    all_are(
        "fine",
        &[
            "http://example.com",
            "https://example.com/",
            "https://example.com:8443/hook?token=abc#part",
            "HTTPS://EXAMPLE.COM/Hook",
            "https://example.com./hook",
            "https://hooks.slack.com/services/T000/B000/XXXX",
            "https://under_score.example.com/",
            "https://xn--bcher-kva.example/",
            "https://bücher.example/",
            "https://例え.jp/",
            "https://example.com:65535/",
            "https://example.com:/",
            "http://8.8.8.8/",
            "http://8.8.8.8:8080/",
            "http://134744072/",
            "https://[2606:4700:4700::1111]/",
            "https://[2606:4700:4700::1111]:8443/x",
            "http://[::ffff:8.8.8.8]/",
            "https://localhost.example.com/",
            "https://local.example.com/",
            "https://internal.example.com/",
            "https://notlocalhost.com/",
            "https://mylocal.net/",
            "https://127.0.0.1.example.com/",
            "https://127.0.0.1.nip.io/",
            "https://example.com\\@127.0.0.1/",
            "https://example.com/@127.0.0.1/",
            "https://example.com/?@127.0.0.1/",
            "https://example.com#@127.0.0.1/",
            "https://@example.com/",
            "  https://example.com/  ",
            "https:example.com",
            "https:/example.com",
            "https://example.com/a b",
            "https://example.com/%00%0d%0a",
            "https://example.com/\"{}|",
            "https://example.com/?q={\"a\":[1]}",
            "https://ex\nample.com/",
            "https://1.2.3.4.example/",
        ],
    );
}

#[test]
fn addresses_inside_are_seen_through_every_spelling() {
    all_are(
        "inside address",
        &[
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/",
            "https://127.0.0.1/",
            "http://127.0.0.1./",
            "http://127.1/",
            "http://127.0.1/",
            "http://127.1:80/",
            "http://2130706433/",
            "http://2130706433./",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://0x7f.0.0.1/",
            "http://0X7F.0X0.0X0.0X1/",
            "http://0x7f.0x0.0x1/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://0177.1/",
            "http://00000177.0.0.0001/",
            "http://127.0x0.00.1/",
            "http://127.00000.00000.00001/",
            "http://%31%32%37%2e%30%2e%30%2e%31/",
            "http://%31%32%37.1/",
            "http://127%2e0%2e0%2e1/",
            "http://0%78%37f.1/",
            "http://127。0。0。1/",
            "http://127．0．0．1/",
            "http://127｡0｡0｡1/",
            "http://１２７.０.０.１/",
            "http://①②⑦.⓪.⓪.①/",
            "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/",
            "http://①②⑦。1/",
            "http://127.0\u{ad}.0.1/",
            "http://12\u{200b}7.0.0.1/",
            "http://127.0.\t0.1/",
            "http://127.\n0.0.1/",
            "\thttp://127.0.0.1/",
            "http:127.0.0.1/",
            "http:/127.0.0.1/",
            "http:///127.0.0.1/",
            "http:////127.0.0.1/",
            "http:\\\\127.0.0.1\\",
            "http://@127.0.0.1/",
            "http://127.0.0.1\\@example.com/",
            "http://127.0.0.1#@example.com/",
            "http://127.0.0.1?@example.com/",
            "http://127.0.0.1/@example.com",
            "http://127.0.0.1:80\\@example.com:80/",
            "http://0/",
            "http://0.0.0.0/",
            "http://0x0/",
            "http://00/",
            "http://0.0/",
            "http://10.0.0.1/",
            "http://10.1/",
            "http://0xa000001/",
            "http://012.0.0.1/",
            "http://172.16.0.1/",
            "http://2886729729/",
            "http://192.168.1.1/",
            "http://0xc0a80101/",
            "http://192.168.257/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0xA9.0xFE.0xA9.0xFE/",
            "http://0251.0376.0251.0376/",
            "http://169.16689662/",
            "http://169.254.43518/",
            "http://%31%36%39.254.169.254/",
            "http://169。254。169。254/",
            "http://169.254.170.2/",
            "http://100.100.100.200/",
            "http://192.0.0.192/",
            "http://168.63.129.16/",
            "http://198.18.0.1/",
            "http://192.0.2.1/",
            "http://198.51.100.1/",
            "http://203.0.113.1/",
            "http://192.88.99.1/",
            "http://224.0.0.1/",
            "http://240.0.0.1/",
            "http://255.255.255.255/",
            "http://4294967295/",
            "http://0xffffffff/",
            "http://[::]/",
            "http://[::1]/",
            "http://[::1]:8080/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
            "http://[::0.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[::7f00:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::FFFF:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[0:0:0:0:0:ffff:7f00:0001]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[::ffff:0:127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[64:ff9b::8.8.8.8]/",
            "http://[64:ff9b:1::1]/",
            "http://[100::1]/",
            "http://[2001::1]/",
            "http://[2001:db8::1]/",
            "http://[2002:7f00:1::]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[3fff::1]/",
            "http://[5f00::1]/",
            "http://[fc00::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd20:ce::254]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[ff02::1]/",
        ],
    );
}

#[test]
fn names_from_inside_are_refused_in_every_spelling() {
    all_are(
        "inside name",
        &[
            "http://localhost/",
            "http://localhost./",
            "http://LOCALHOST/",
            "http://LocalHost:8080/",
            "https://localhost/",
            "http://foo.localhost/",
            "http://foo.bar.localhost./",
            "http://%6c%6f%63%61%6c%68%6f%73%74/",
            "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
            "http://ｌｏｃａｌｈｏｓｔ/",
            "http://local\u{ad}host/",
            "http://ſocket/",
            "http://foo。localhost/",
            "http://printer.local/",
            "http://printer.local./",
            "http://kubernetes.default.svc.cluster.local/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://METADATA.google.internal./",
            "http://instance-data.ec2.internal/",
            "http://host.docker.internal/",
            "http://localhost.localdomain/",
            "http://box.localdomain/",
            "http://router.home.arpa/",
            "http://redis/",
            "http://redis:6379/",
            "http://metadata/",
            "http://postgres./",
            "http://com/",
            "http://ip6-localhost/",
            "http://local/",
            "http://internal/",
        ],
    );
}

#[test]
fn credentials_are_refused() {
    all_are(
        "credentials",
        &[
            "https://user@example.com/",
            "https://user:secret@example.com/",
            "https://:secret@example.com/",
            "https://example.com@127.0.0.1/",
            "https://example.com:80@127.0.0.1/",
            "https://127.0.0.1@example.com/",
            "https://a@b@example.com/",
            "https://%00@example.com/",
            "https://example.com%2f@127.0.0.1/",
            "https://example.com%23@127.0.0.1/",
        ],
    );
}

#[test]
fn other_schemes_are_refused() {
    all_are(
        "scheme",
        &[
            "ftp://example.com/",
            "file:///etc/passwd",
            "file://example.com/etc/passwd",
            "gopher://example.com:70/_x",
            "dict://example.com:11211/stat",
            "ws://example.com/",
            "wss://example.com/",
            "ldap://example.com/",
            "jar:http://example.com!/",
            "data:text/plain,hello",
            "javascript:alert(1)",
            "mailto:someone@example.com",
            "unix:/var/run/docker.sock",
            "httpx://example.com/",
            "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
            "localhost:8080/",
        ],
    );
}

#[test]
fn ports_have_to_exist() {
    all_are("port", &["http://example.com:0/", "https://8.8.8.8:00/", "http://[2606::1]:0/"]);
    all_are(
        "malformed",
        &[
            "http://example.com:65536/",
            "http://example.com:99999999999/",
            "http://example.com:-1/",
            "http://example.com:http/",
            "http://example.com:80:80/",
            "http://example.com:8 0/",
        ],
    );
}

#[test]
fn what_is_no_url_is_refused() {
    all_are(
        "malformed",
        &[
            "",
            " ",
            "example.com",
            "//example.com/",
            "/hook",
            "?x",
            "http",
            "http:",
            "http://",
            "http:///",
            "https://?x",
            "https://#x",
            "http://:80/",
            "http://user@/",
            "http://[::1/",
            "http://::1/",
            "http://[::1]x/",
            "http://[1:2:3]/",
            "http://[::g]/",
            "http://[fe80::1%25eth0]/",
            "http://[fe80::1%eth0]/",
            "http://[127.0.0.1]/",
            "http://256.0.0.1/",
            "http://1.2.3.4.5/",
            "http://127.0.0.0.1/",
            "http://0x100000000/",
            "http://4294967296/",
            "http://1.2.3.08/",
            "http://127..1/",
            "http://foo.0x1/",
            "http://exa mple.com/",
            "http://exa<mple.com/",
            "http://exa%mple.com/",
            "http://example%2ecom%2f/",
            "http://example.com%00/",
            "http://%/",
            "http://exam|ple.com/",
            "http://xn--localhost-/",
            "http://xn--/",
            "http://\u{ad}/",
        ],
    );
}

#[test]
fn names_that_dns_cannot_know_are_refused() {
    let long_label = format!("https://{}.example/", "a".repeat(64));
    let long_name = format!("https://{}example/", "abcdefgh.".repeat(28));
    all_are(
        "bad name",
        &[
            "https://example..com/",
            "https://.example.com/",
            "https://example.com../",
            "https://exam!ple.com/",
            "https://exam$ple.com/",
            "https://exam'ple.com/",
            "https://exam*ple.com/",
            "https://a,b.com/",
            "https://a;b.com/",
            "https://a=b.com/",
            "https://a~b.com/",
            "https://./",
            &long_label,
            &long_name,
        ],
    );
}

#[test]
fn a_url_is_only_so_long() {
    let url = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
    assert_eq!(verdict(&url(8 * 1024)), "fine");
    assert_eq!(verdict(&url(8 * 1024 + 1)), "too long");
}

/// What is shown of a URL tells where it goes and no secret.
#[test]
fn a_target_is_shown_without_its_query() {
    let target = closed().target("https://Example.com.:443/a/../hook?token=secret#x").unwrap();
    assert_eq!(target.to_string(), "https://example.com./hook");
    assert_eq!(format!("{target:?}"), "Target(https://example.com./hook)");
    assert_eq!(target.url(), "https://example.com./hook?token=secret");
    assert_eq!((target.host_name(), target.port(), target.is_secure()), ("example.com", 443, true));
}

/// With an allowed network the name alone decides nothing: its addresses will.
#[test]
fn names_from_inside_pass_where_a_network_is_allowed() {
    let guard = allowing(&["127.0.0.0/8"]);
    for url in ["http://localhost:9000/", "http://redis/", "http://db.internal/"] {
        assert!(guard.target(url).is_ok(), "{url}");
    }
    for url in ["http://10.0.0.1/", "http://[::1]/", "http://[::127.0.0.1]/"] {
        assert!(guard.target(url).is_err(), "{url}");
    }
    for url in ["http://127.1/", "http://[::ffff:7f00:1]/", "http://0x7f.2/"] {
        assert!(guard.target(url).is_ok(), "{url}");
    }
}

/// The refusal says what is wrong and no more than the user knows.
#[test]
fn refusals_are_one_short_sentence() {
    let say = |url: &str| closed().target(url).unwrap_err().to_string();
    assert_eq!(say("http://0x7f.1/"), "127.0.0.1 is not a public address");
    assert_eq!(say("http://redis/"), "redis is a name inside a network, not a public one");
    assert_eq!(Refusal::Inside.to_string(), "the name leads to an address that is not public");
}
