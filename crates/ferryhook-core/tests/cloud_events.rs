//! What the libraries of CloudEvents take for the attributes of requests, held against ours.

use ferryhook_core::dedup::{Arriving, Rule};
use ferryhook_core::{Body, Headers, Map};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vector {
    headers: Map,
    body: String,
    attributes: Option<Attributes>,
    by: String,
    note: String,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Attributes {
    id: String,
    source: String,
    #[serde(rename = "type")]
    kind: String,
}

#[test]
fn we_read_what_the_libraries_read() {
    let vectors: Vec<Vector> =
        serde_json::from_str(include_str!("cloud_events.json")).expect("a list of vectors");
    assert!(vectors.len() >= 40);
    for Vector { headers, body, attributes, by, note } in vectors {
        let headers: Headers = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().expect("text")))
            .collect();
        let body = Body::from(body);
        let arriving = Arriving { headers: &headers, query: None, path: None, body: &body };
        let read = |name: &str| {
            Rule::parse(&format!("cloudevent.{name}")).expect("a rule").text(&arriving)
        };
        let ours = (|| {
            read("specversion")?;
            Some(Attributes { id: read("id")?, source: read("source")?, kind: read("type")? })
        })();
        assert_eq!(ours, attributes, "{note}, by {by}");
    }
}
