//! Filters and transforms from outside: what is delivered, in what shape, and why.

use serde_json::{Value, json};

use crate::destination::Destination;
use crate::ferry::show;
use crate::stage::{Stage, source};

fn bodies(destination: &Destination, count: usize) -> Vec<Value> {
    let calls = destination.wait_for(count);
    calls.iter().map(|call| serde_json::from_str(call.body()).unwrap()).collect()
}

#[test]
fn a_filter_decides_what_is_delivered() {
    let destination = Destination::kind();
    let filters = json!([
        { "path": "body.amount", "operator": "gte", "value": 100 },
        { "path": "headers.x-country", "operator": "in", "value": ["DE", "AT"] },
    ]);
    let stage =
        Stage::with(vec![source("shop", &destination.url("a"), json!({ "filters": filters }))]);
    let post = |country: &str, body: &str| {
        let headers = format!("x-country: {country}\r\ncontent-type: application/json\r\n");
        let answer = stage.ferry.post_with(stage.path("shop"), &headers, body.as_bytes());
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    let small = post("DE", r#"{"amount":99}"#);
    let abroad = post("FR", r#"{"amount":100}"#);
    let wanted = post("AT", r#"{"amount":100}"#);
    stage.wait_until_settled(&wanted);
    assert_eq!(bodies(&destination, 1), [json!({ "amount": 100 })]);
    for event in [&small, &abroad] {
        let story = stage.wait(event, |story| story["status"] == "filtered");
        assert_eq!(story["deliveries"], json!([]), "{story:#}");
    }

    let told = stage.ask(&["explain", &abroad, "--json"]);
    let clauses = told["connections"][0]["filter"]["clause"]["clauses"].as_array().unwrap().clone();
    let shown: Vec<_> = clauses.iter().map(|one| (&one["holds"], &one["saw"])).collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(shown, [(&yes, &json!(["100"])), (&no, &json!(["\"FR\""]))], "{told:#}");
    assert_eq!(told["connections"][0]["verdict"], "filtered");
    assert_eq!(told["ledger"]["verdict"], "no_key");
    let text = show(&stage.command(&["explain", &abroad]));
    assert!(
        text.contains("yes    body.amount gte 100") && text.contains("no     headers.x-country in"),
        "{text}"
    );
}

#[test]
fn a_transform_decides_in_what_shape() {
    let destination = Destination::kind();
    let field_map = json!({ "transform": { "type": "field_map", "rename": { "id": "orderId" } } });
    let script = |code: &str| json!({ "transform": { "type": "javascript", "code": code } });
    let reshaped = r#"addHandler("transform", (request, context) => {
        request.body = { total: request.body.id * 2 };
        request.headers["x-kind"] = "order";
        return request;
    });"#;
    let (map, js) = (
        source("map", &destination.url("map"), field_map),
        source("js", &destination.url("js"), script(reshaped)),
    );
    let stage = Stage::with(vec![map, js]);
    let first = stage.post("map", r#"{"id":7}"#);
    stage.wait_until_settled(&first);
    let second = stage.post("js", r#"{"id":21}"#);
    stage.wait_until_settled(&second);
    assert_eq!(bodies(&destination, 2), [json!({ "orderId": 7 }), json!({ "total": 42 })]);
    let calls = destination.calls();
    assert_eq!(calls[1].message.header("x-kind"), Some("order"));
    // What is stored is what came.
    let kept = stage.ask(&["events", "show", &second, "--body", "--json"]);
    assert_eq!(kept["body"], r#"{"id":21}"#);

    let told = stage.ask(&["explain", &second, "--json"]);
    let changes = &told["connections"][0]["transform"]["changes"];
    let at: Vec<_> = changes.as_array().unwrap().iter().map(|one| one["at"].clone()).collect();
    assert!(at.contains(&json!("body.total")) && at.contains(&json!("headers.x-kind")), "{told:#}");
}

#[test]
fn a_script_can_drop_an_event_and_the_filter_can_come_second() {
    let destination = Destination::kind();
    let code = "function transform(payload) { \
        if (payload.test) return null; \
        return { size: payload.items.length }; }";
    let rules = json!({
        "transform": { "type": "javascript", "code": code },
        "filters": [{ "path": "body.size", "operator": "gt", "value": 1 }],
        "pipelineOrder": "transform_first",
    });
    let stage = Stage::with(vec![source("shop", &destination.url("a"), rules)]);
    let dropped = stage.post("shop", r#"{"test":true}"#);
    let small = stage.post("shop", r#"{"items":[1]}"#);
    let large = stage.post("shop", r#"{"items":[1,2]}"#);
    stage.wait_until_settled(&large);
    let reason = |event: &str| {
        let story = stage.wait_until_settled(event);
        assert_eq!(story["status"], "filtered", "{story:#}");
        story["deliveries"][0]["reason"].clone()
    };
    assert_eq!(reason(&dropped), "transform_dropped");
    assert_eq!(reason(&small), "filtered");
    assert_eq!(bodies(&destination, 1), [json!({ "size": 2 })]);
}

/// Recorded with its reason, tried again, and nothing else suffers from it.
#[test]
fn a_failing_script_fails_the_attempt_until_it_is_mended() {
    let destination = Destination::kind();
    let script = |code: &str| {
        let rules = json!({
            "transform": { "type": "javascript", "code": code },
            "retry": { "schedule": [0, 1, 2, 2, 2, 2, 2, 2], "jitterPercent": 0 },
        });
        source("bad", &destination.url("bad"), rules)
    };
    let good = || source("good", &destination.url("good"), json!({}));
    let mut stage = Stage::with(vec![script("function transform(p) { for (;;) {} }"), good()]);
    let stuck = stage.post("bad", r#"{"n":1}"#);
    let story = stage.wait_for_attempts(&stuck, 1);
    let error = story["attempts"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("the transform failed: "), "{story:#}");
    let fine = stage.post("good", r#"{"n":2}"#);
    stage.wait_until_settled(&fine);

    stage.apply(vec![script("function transform(p) { return { n: p.n + 1 } }"), good()]);
    let story = stage.wait_until_settled(&stuck);
    assert_eq!(story["status"], "delivered", "{story:#}");
    assert_eq!(bodies(&destination, 2), [json!({ "n": 2 }), json!({ "n": 2 })]);
}

#[test]
fn other_rules_can_be_tried_without_effect() {
    let destination = Destination::kind();
    let stage = Stage::with(vec![source("shop", &destination.url("a"), json!({}))]);
    let events: Vec<_> =
        (0..250).map(|n| stage.post("shop", &json!({ "n": n }).to_string())).collect();
    stage.wait_until_settled(&events[249]);
    destination.wait_for(250);
    stage.write("rules.yaml", "filters: [{ path: body.n, operator: lt, value: 100 }]\n\
        transform: { type: javascript, code: 'function transform(p) { return { n: p.n, half: p.n / 2 } }' }\n");
    let ask = ["what-if", "--connection", "shop", "--rules", "rules.yaml", "--json"];
    let told = stage.ask(&ask);
    assert_eq!((&told["lookedAt"], &told["verdictChanged"]), (&json!(250), &json!(150)), "{told}");
    assert_eq!(told["contentChanged"], 100, "{told}");
    assert_eq!(told["after"]["delivered"], 100, "{told}");
    let example = &told["examples"][0];
    assert_eq!(
        (&example["eventId"], &example["after"]["verdict"]),
        (&json!(events[249]), &json!("filtered"))
    );
    let few = stage.ask(&[&ask[..], &["--last", "20"]].concat());
    assert_eq!((&few["lookedAt"], &few["verdictChanged"]), (&json!(20), &json!(20)), "{few}");
    assert_eq!(destination.calls().len(), 250, "nothing was sent");

    stage.write("rules.yaml", "filters:\n  - { path: body.n, operator: resembles, value: 1 }\n");
    let said = show(&stage.command(&ask));
    assert!(said.starts_with("exit 1") && said.contains("rules.yaml:2:"), "{said}");
    let said = show(&stage.command(&["what-if", "--connection", "none", "--rules", "rules.yaml"]));
    assert!(said.contains("rules.yaml:2:") || said.starts_with("exit 4"), "{said}");
}

#[test]
fn a_rule_that_is_wrong_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "
sources:
  - name: shop
    connections:
      - name: a
        url: https://example.com
        filters: [{ path: body.n, operator: resembles, value: 1 }]
      - name: b
        url: https://example.com
        transform: { type: javascript, code: 'function transform(' }
      - name: c
        url: https://example.com
        pipelineOrder: backwards
";
    std::fs::write(folder.path().join("hooks.yaml"), bad).unwrap();
    let said = show(&crate::ferry::run(&folder, &["apply", "-f", "hooks.yaml"], &[]));
    for place in [
        "hooks.yaml:7:18: sources[0].connections[0].filters: ",
        "hooks.yaml:10:20: ",
        "hooks.yaml:13:24: ",
    ] {
        assert!(said.contains(place), "{place} in {said}");
    }
}
