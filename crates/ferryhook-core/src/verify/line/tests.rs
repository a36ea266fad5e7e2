use super::*;

#[test]
fn headers_come_as_an_object_or_as_pairs() {
    for headers in [
        r#"{"A":"1","b":["2","3"]}"#,
        r#"[["A","1"],["b","2"],["b","3"]]"#,
        r#"{"A":1,"b":["2","3"],"c":null}"#,
    ] {
        let line = Line::parse(&format!(r#"{{"provider":"x","headers":{headers}}}"#)).unwrap();
        let expected = Headers::from_iter([("A", "1"), ("b", "2"), ("b", "3")]);
        assert_eq!(line.headers().unwrap(), expected, "{headers}");
    }
    for headers in ["3", r#"["a"]"#, r#"[["a"]]"#, r#"{"a":{}}"#, r#"{"a":[1]}"#] {
        let line = Line::parse(&format!(r#"{{"provider":"x","headers":{headers}}}"#)).unwrap();
        assert!(line.headers().is_err(), "{headers}");
    }
}

#[test]
fn what_is_left_out_is_empty() {
    let line = Line::parse(r#"{"provider":"github"}"#).unwrap();
    assert_eq!((line.method.as_str(), line.url.as_str()), ("POST", ""));
    assert_eq!(line.body().unwrap(), b"");
    assert_eq!(line.now(), None);
    assert!(matches!(line.verdict(Timestamp::default()), Err(BadLine::Verifier(_))));
}

#[test]
fn a_secret_is_one_or_several() {
    for (secret, count) in [("null", 0), (r#""a""#, 1), (r#"["a","b"]"#, 2)] {
        let line = Line::parse(&format!(r#"{{"provider":"x","secret":{secret}}}"#)).unwrap();
        assert_eq!(line.secrets().unwrap().len(), count, "{secret}");
    }
    assert!(Line::parse(r#"{"provider":"x","secret":3}"#).unwrap().secrets().is_err());
}

#[test]
fn a_time_is_a_number_or_its_text() {
    for (now, millis) in [
        ("1700000000", Some(1_700_000_000_000)),
        ("1700000000.5", Some(1_700_000_000_500)),
        (r#""1700000000""#, Some(1_700_000_000_000)),
        ("null", None),
    ] {
        let line = Line::parse(&format!(r#"{{"provider":"x","now":{now}}}"#)).unwrap();
        assert_eq!(line.now().map(Timestamp::as_millis), millis, "{now}");
    }
    assert!(Line::parse(r#"{"provider":"x","now":"soon"}"#).is_err());
}

#[test]
fn secrets_that_were_replaced_come_last() {
    let line = Line::parse(r#"{"provider":"x","secret":"a","previousSecrets":["b","c"]}"#).unwrap();
    let secrets = line.secrets().unwrap();
    assert_eq!(secrets.iter().map(Secret::expose).collect::<Vec<_>>(), ["a", "b", "c"]);
}
