use super::*;
use crate::{Headers, Map};

#[test]
fn a_template_is_filled_with_parts_of_the_request() {
    let config: Map = serde_json::from_str(r#"{"app_key":"k"}"#).unwrap();
    let headers = Headers::from_iter([("X-Id", " 7 ")]);
    let request = Request { method: "POST", url: "", headers: &headers, body: b"{}" };
    let filling = Filling {
        request: &request,
        url: "https://h.io/in/a%2Fb%20c?d=%3A",
        timestamp: "12",
        secret: b"s",
    };
    for (template, content) in [
        ("{body}", "{}"),
        ("v0:{timestamp}:{body}", "v0:12:{}"),
        ("{header:x-id}.{timestamp}", "7.12"),
        ("{method}{url}", "POSThttps://h.io/in/a%2Fb%20c?d=%3A"),
        ("{url-decoded}", "https://h.io/in/a/b%20c?d=:"),
        ("{path}?{query}", "/in/a%2Fb%20c?d=%3A"),
        ("{config:appKey}{secret}!", "ks!"),
    ] {
        let compiled = Template::compile(template, &Options(&config)).unwrap();
        let filled = compiled.filled(&filling).unwrap();
        assert_eq!(String::from_utf8(filled).unwrap(), content, "{template}");
    }
}

#[test]
fn a_template_that_is_not_understood_is_refused() {
    let config = Map::new();
    for template in ["{body", "{nothing}", "{header:}", "{config:absent}", &"x".repeat(1025)] {
        assert!(Template::compile(template, &Options(&config)).is_err(), "{template}");
    }
}

#[test]
fn a_path_is_found_in_any_url() {
    for (url, path, query) in [
        ("https://h.io", "/", ""),
        ("https://h.io?a=1", "/", "a=1"),
        ("https://h.io/b?a=1#c", "/b", "a=1"),
        ("/b?a", "/b", "a"),
        ("", "/", ""),
    ] {
        assert_eq!(path_and_query(url), (path, query), "{url}");
    }
}
