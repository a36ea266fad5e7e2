use super::*;

fn judged(version: Version, headers: &[(&str, &str)]) -> Result<(), Misframed> {
    let mut request = Request::builder().uri("/").version(version);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    check(&request.body(()).unwrap())
}

#[test]
fn hosts() {
    for host in ["a", "a.example:80", "A_b-c.example:", "[::1]", "[2001:db8::1]:8080", "1.2.3.4"] {
        assert_eq!(judged(Version::HTTP_11, &[("host", host)]), Ok(()), "{host}");
    }
    for host in
        ["", "a/b", "a b", "a@b", "a:80:80", "a:x", "[::1", "[a]", "::1", "a\\b", "a:123456"]
    {
        assert!(judged(Version::HTTP_11, &[("host", host)]).is_err(), "{host:?}");
    }
    assert!(judged(Version::HTTP_11, &[("host", "a"), ("host", "a")]).is_err());
    assert!(judged(Version::HTTP_11, &[]).is_err());
    assert_eq!(judged(Version::HTTP_10, &[]), Ok(()));
    assert_eq!(judged(Version::HTTP_2, &[]), Ok(()));
}

#[test]
fn lengths() {
    let judged = |headers: &[(&str, &str)]| {
        let mut all = vec![("host", "a")];
        all.extend(headers);
        judged(Version::HTTP_11, &all)
    };
    assert_eq!(judged(&[("content-length", "3")]), Ok(()));
    assert_eq!(judged(&[("transfer-encoding", "chunked")]), Ok(()));
    assert_eq!(judged(&[("transfer-encoding", "Chunked")]), Ok(()));
    for codings in ["identity", "gzip, chunked", "chunked, chunked", "identity, chunked", ""] {
        assert!(judged(&[("transfer-encoding", codings)]).is_err(), "{codings:?}");
    }
    let twice = [("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")];
    assert!(judged(&twice).is_err());
    assert!(judged(&[("transfer-encoding", "chunked"), ("content-length", "3")]).is_err());
}
