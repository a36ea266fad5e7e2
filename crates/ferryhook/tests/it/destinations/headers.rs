//! What a sender says in headers, on the other side.

use serde_json::json;

use crate::destination::Destination;
use crate::stage::{Stage, source};

/// In bytes of UTF-8 of which some would be control characters if they were characters.
const NAME: &str = "Éclair 日";

#[test]
fn values_beyond_ascii_arrive_as_they_were_sent() {
    let destination = Destination::kind();
    let made = json!({ "type": "field_map", "headers": { "X-Made": NAME } });
    let stage = Stage::with(vec![
        source("plain", &destination.url("plain"), json!({})),
        source("shaped", &destination.url("shaped"), json!({ "transform": made })),
    ]);
    let headers = format!("x-name: {NAME}\r\n");
    for name in ["plain", "shaped"] {
        assert_eq!(stage.ferry.post_with(stage.path(name), &headers, b"{}").status, 200);
    }
    for call in destination.wait_for(2) {
        assert_eq!(call.message.header("x-name"), Some(NAME));
        let made = (call.path() == "shaped").then_some(NAME);
        assert_eq!(call.message.header("x-made"), made);
    }
    stage.ferry.stop();
}

/// Else a circle of two sources would never end.
#[test]
fn a_transform_does_not_begin_to_count_anew() {
    let destination = Destination::kind();
    let forgetful = json!({ "type": "field_map", "headers": { "X-Ferryhook-Hops": null } });
    let forgetful = json!({ "transform": forgetful });
    let stage = Stage::with(vec![source("circle", &destination.url(""), forgetful)]);
    let path = stage.path("circle");
    assert_eq!(stage.ferry.post_with(path, "x-ferryhook-hops: 2\r\n", b"{}").status, 200);
    let calls = destination.wait_for(1);
    assert_eq!(calls[0].message.header("x-ferryhook-hops"), Some("3"));
    stage.ferry.stop();
}
