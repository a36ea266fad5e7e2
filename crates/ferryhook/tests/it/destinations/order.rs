//! Events that must keep their order, over a destination that fails now and then.

use serde_json::json;

use crate::destination::{Destination, OK, say};
use crate::stage::{Stage, source};

const OF_EACH: usize = 5;

/// Those of one key wait for the first of them; those of another do not.
#[test]
fn events_of_one_key_stay_in_order() {
    let destination = Destination::new(|call, stream| {
        let first_try = call.message.header("x-ferryhook-attempt") == Some("1");
        match call.body().contains(r#""order":"late","number":0"#) && first_try {
            true => say(stream, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
            false => say(stream, OK),
        }
    });
    let ordered = json!({ "ordering": { "key": "$.order" } });
    let stage = Stage::with(vec![source("shop", &destination.url(""), ordered)]);
    for number in 0..OF_EACH {
        for order in ["late", "other"] {
            stage.post("shop", &format!(r#"{{"order":"{order}","number":{number}}}"#));
        }
    }
    let calls = destination.wait_for(2 * OF_EACH + 1);
    let of = |order: &str| -> Vec<u64> {
        let bodies = calls.iter().map(|call| call.body());
        let bodies = bodies.map(|body| serde_json::from_str::<serde_json::Value>(body).unwrap());
        bodies
            .filter(|body| body["order"] == order)
            .map(|b| b["number"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(of("late"), [0, 0, 1, 2, 3, 4]);
    assert_eq!(of("other"), [0, 1, 2, 3, 4]);
    let last_other = calls.iter().rposition(|call| call.body().contains("other")).unwrap();
    let again =
        calls.iter().rposition(|call| call.body().contains(r#""late","number":0"#)).unwrap();
    assert!(last_other < again, "the other key waited");
    stage.ferry.stop();
}
