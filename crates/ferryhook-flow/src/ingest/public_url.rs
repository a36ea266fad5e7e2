//! The address a sender called, as the sender knows it. Some providers sign it.

use std::net::IpAddr;

use ferryhook_core::{Id, Source};
use ferryhook_net::Trusted;
use hyper::HeaderMap;
use hyper::header::HOST;
use hyper::http::request::Parts;

use super::letter::Letter;

/// What is configured, or else what the request says of itself: behind proxies of ours, what the
/// outermost of them saw.
pub(super) fn of(
    configured: Option<&str>,
    head: &Parts,
    peer: Option<IpAddr>,
    trusted: &Trusted,
) -> String {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    if let Some(base) = configured {
        return format!("{base}{path}");
    }
    let forwarded = peer.is_some_and(|peer| trusted.trusts(peer));
    let told = |name: &str| forwarded.then(|| first(&head.headers, name)).flatten();
    let own = || head.headers.get(HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has the host in the address instead.
    let authority = || head.uri.authority().map(|authority| authority.as_str());
    let host = told("x-forwarded-host").or_else(own).or_else(authority).unwrap_or("localhost");
    format!("{}://{host}{path}", scheme(told("x-forwarded-proto")))
}

/// The same for a request that came before, from what is kept of it.
pub(super) fn again(configured: Option<&str>, source: Id<Source>, letter: &Letter) -> String {
    let host = || letter.headers.find("host").unwrap_or("localhost");
    let base = configured.map_or_else(|| format!("http://{}", host()), str::to_owned);
    below(&base, source, letter)
}

/// What a proxy said about it, if one did. Whether that was one of ours is not known any more, so
/// this may only be asked of what carries a proof of its own.
pub(super) fn as_forwarded(source: Id<Source>, letter: &Letter) -> Option<String> {
    let told = |name| letter.headers.find(name).and_then(outermost);
    let host = told("x-forwarded-host")?;
    let base = format!("{}://{host}", scheme(told("x-forwarded-proto")));
    Some(below(&base, source, letter))
}

fn below(base: &str, source: Id<Source>, Letter { path, query, .. }: &Letter) -> String {
    let path = path.as_deref().unwrap_or_default();
    let query = query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{base}/in/{source}{path}{query}")
}

fn first<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    outermost(headers.get(name)?.to_str().ok()?)
}

/// The first of several is what the outermost proxy saw.
fn outermost(value: &str) -> Option<&str> {
    let first = value.split(',').next().unwrap_or_default().trim();
    (!first.is_empty()).then_some(first)
}

fn scheme(told: Option<&str>) -> &'static str {
    match told {
        Some(scheme) if scheme.eq_ignore_ascii_case("https") => "https",
        _ => "http",
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn head(headers: &[(&str, &str)]) -> Parts {
        let request = Request::builder().uri("/in/src_1/path?a=%20b");
        let add = |request: hyper::http::request::Builder, (name, value): &(&str, &str)| {
            request.header(*name, *value)
        };
        headers.iter().fold(request, add).body(()).unwrap().into_parts().0
    }

    #[test]
    fn what_is_configured_counts_before_what_is_said() {
        let (peer, other) = ("10.0.0.1".parse().ok(), "192.0.2.1".parse().ok());
        let trusted = Trusted::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let plain = head(&[("host", "a.example:8080")]);
        let proxied = head(&[
            ("host", "inner"),
            ("x-forwarded-host", "a.example, b.example"),
            ("x-forwarded-proto", "https"),
        ]);
        let url = |configured, head, peer| of(configured, head, peer, &trusted);
        let behind = "/in/src_1/path?a=%20b";
        assert_eq!(url(None, &plain, other), format!("http://a.example:8080{behind}"));
        assert_eq!(url(None, &proxied, peer), format!("https://a.example{behind}"));
        assert_eq!(url(None, &proxied, other), format!("http://inner{behind}"));
        assert_eq!(url(None, &proxied, None), format!("http://inner{behind}"));
        let configured = Some("https://hooks.example.com");
        assert_eq!(url(configured, &proxied, peer), format!("https://hooks.example.com{behind}"));
    }
}
