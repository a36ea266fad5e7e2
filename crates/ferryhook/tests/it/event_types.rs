//! The catalogue of event types that traffic writes, what is told of it, and what is declared.

use serde_json::{Value, json};

use crate::client::{Tenant, told};
use crate::destination::Destination;

const ORDER: &str = "/v1/event-types/order.paid";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn post(tenant: &Tenant, payload: &Value, count: usize) {
    let event = json!({ "eventType": "order.paid", "payload": payload });
    let told = tenant.post("/v1/events", json!({ "events": vec![event; count] }));
    let refused = told["data"].as_array().unwrap().iter().find(|one| one["status"] != 201);
    assert_eq!(refused, None);
}

/// Waits until so many have been learned from, and gives it.
fn learned(tenant: &Tenant, samples: u64) -> Value {
    // Before the first flush there is no such type.
    tenant.wait("/v1/event-types", |list| {
        list["data"].as_array().unwrap().iter().any(|one| one["samples"] == samples)
    });
    tenant.get(ORDER)
}

#[test]
fn drift_is_noted_and_told_once() {
    let ops = Destination::kind();
    let mut tenant = Tenant::new();
    let hook = json!({ "url": ops.url("ops"), "events": ["event_type.*"] });
    tenant.post("/v1/hooks", hook);
    let usual = json!({ "number": 7, "to": { "name": "Ada" }, "lines": [{ "sku": "a" }] });
    post(&tenant, &usual, 20);
    learned(&tenant, 20);
    post(&tenant, &usual, 20);
    let shown = learned(&tenant, 40);
    assert_eq!((&shown["count"], &shown["drifts"]), (&json!(40), &json!([])));
    let schema = &shown["inferredSchema"];
    assert_eq!(schema["required"], json!(["lines", "number", "to"]));
    assert_eq!(schema["properties"]["lines"]["items"]["required"], json!(["sku"]));
    assert_eq!(schema["properties"]["number"], json!({ "type": "integer" }));

    // A new field, another type; and 20 in a row without a field.
    let other = json!({ "number": "7", "lines": [{ "sku": "a", "gift": true }] });
    post(&tenant, &other, 1);
    let drifts = learned(&tenant, 41)["drifts"].clone();
    let seen = |drifts: &Value| {
        let drifts = drifts.as_array().unwrap().iter();
        let line = |one: &Value| format!("{} {}", text(&one["kind"]), text(&one["path"]));
        drifts.map(line).collect::<Vec<_>>()
    };
    assert_eq!(seen(&drifts), ["new /lines/*/gift", "retyped /number"]);
    assert_eq!(drifts[1]["was"], json!(["integer"]));
    tenant.get(&format!("/v1/events/{}", text(&drifts[1]["eventId"])));
    let first = &ops.wait_for(1)[0];
    let body: Value = serde_json::from_str(first.body()).unwrap();
    assert_eq!((&body["type"], &body["data"]["drifts"]), (&json!("event_type.drifted"), &drifts));
    post(&tenant, &other, 19);
    let drifts = learned(&tenant, 60)["drifts"].clone();
    assert_eq!(seen(&drifts)[2..], ["vanished /to"]);
    ops.wait_for(2);

    // What was told is not told again: not of the same, and not by another server.
    tenant.end("TERM");
    tenant.begin_again();
    post(&tenant, &other, 20);
    let shown = learned(&tenant, 80);
    assert_eq!((&shown["count"], &shown["drifts"]), (&json!(80), &drifts));
    let list = told(&tenant.person.get("/v1/notifications"), 200);
    let titles: Vec<_> = list["data"].as_array().unwrap().iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["Events of type order.paid look different"; 2]);
}

/// Nothing that was counted is lost when a server is told to stop.
#[test]
fn what_was_counted_is_written_at_a_clean_stop() {
    let mut tenant = Tenant::new();
    post(&tenant, &json!({ "number": 1 }), 500);
    tenant.end("TERM");
    tenant.begin_again();
    assert_eq!(tenant.get(ORDER)["count"], 500);
    assert_eq!(tenant.call("DELETE", ORDER, None).status, 204);
    tenant.expect(404, "GET", ORDER, None);
}

#[test]
fn what_is_declared_is_held_at_both_doors() {
    let tenant = Tenant::new();
    let schema = json!({
        "type": "object",
        "required": ["number"],
        "properties": { "number": { "type": "integer" } },
    });
    let path = format!("{ORDER}/schema");
    let bad = json!({ "schema": { "$ref": "https://example.com/x" }, "mode": "reject" });
    let problem = tenant.expect(400, "PUT", &path, Some(&bad));
    assert_eq!(problem["errors"][0]["pointer"], "/schema/$ref");
    let strict = json!({ "schema": schema, "mode": "reject" });
    tenant.expect(200, "PUT", &path, Some(&strict));

    // Posted: each by itself, with where it is wrong, and nothing is stored of it.
    let good = json!({ "eventType": "order.paid", "payload": { "number": 1 } });
    let wrong = json!({ "eventType": "order.paid", "payload": { "number": "hush" } });
    let problem = tenant.expect(400, "POST", "/v1/events", Some(&wrong));
    assert_eq!(problem["errors"][0]["pointer"], "/payload/number");
    assert!(!problem.to_string().contains("hush"), "{problem:#}");
    let many = json!({ "events": [good, wrong, good] });
    let answer = tenant.expect(200, "POST", "/v1/events", Some(&many));
    let statuses: Vec<_> =
        answer["data"].as_array().unwrap().iter().map(|one| one["status"].as_u64()).collect();
    assert_eq!(statuses, [Some(201), Some(400), Some(201)]);
    let stored = tenant.get("/v1/events?type=order.paid");
    assert_eq!(stored["data"].as_array().unwrap().len(), 2);

    // A webhook: refused, listed, and let in once the declaration allows it.
    let source = tenant.post("/v1/sources", json!({ "name": "shop", "eventType": "body.type" }));
    let source = text(&source["sourceId"]);
    let send = |body: &Value| {
        let headers = "content-type: application/json\r\n";
        let door = format!("/in/{source}");
        tenant.ferry.post_with(&door, headers, body.to_string().as_bytes()).status
    };
    assert_eq!(send(&json!({ "type": "order.paid", "number": 1 })), 200);
    assert_eq!(send(&json!({ "type": "order.paid", "number": "x" })), 400);
    assert_eq!(send(&json!({ "type": "order.made", "number": "x" })), 200, "another type");
    let list = format!("/v1/sources/{source}/rejections");
    let rejections =
        tenant.wait(&list, |list| list["data"].as_array().is_some_and(|all| !all.is_empty()));
    let rejection = &rejections["data"][0];
    assert_eq!(rejection["cause"], "schema", "{rejection:#}");
    let order = json!({ "rejectionIds": [rejection["rejectionId"]] });
    let still = tenant.call("POST", &format!("{list}/readmit"), Some(&order));
    assert!(still.json().to_string().contains("declared"), "{still:?}");
    let lenient = json!({ "schema": schema, "mode": "warn" });
    tenant.expect(200, "PUT", &path, Some(&lenient));
    tenant.post(&format!("{list}/readmit"), order);
    let left = tenant.get(&list);
    assert_eq!(left["data"], json!([]), "{left:#}");

    // Four times one was refused, once one came in with a warning; of each declaration it is told once.
    let shown = tenant.wait(ORDER, |shown| shown["mismatches"] == 5);
    assert_eq!(shown["count"], 4, "{shown:#}");
    assert_eq!(send(&json!({ "type": "order.paid" })), 200);
    tenant.wait(ORDER, |shown| shown["mismatches"] == 6);
    let list = told(&tenant.person.get("/v1/notifications"), 200);
    let titles: Vec<_> = list["data"].as_array().unwrap().iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["An event of type order.paid is not as declared"; 2]);
    tenant.call("DELETE", &path, None);
    assert!(tenant.get(ORDER).get("declared").is_none());
}

/// The catalogue is the account's own.
#[test]
fn a_neighbour_sees_none_of_it() {
    let tenant = Tenant::new();
    post(&tenant, &json!({ "number": 1 }), 1);
    learned(&tenant, 1);
    let who = json!({
        "email": "two@example.com", "password": "correct horse battery", "name": "Two"
    });
    let nobody = tenant.person.with("");
    let signed_in = told(&nobody.post("/v1/auth/signup", who), 201);
    let neighbour = nobody.with(text(&signed_in["accessToken"]));
    assert_eq!(told(&neighbour.get("/v1/event-types"), 200)["data"], json!([]));
    assert_eq!(neighbour.get(ORDER).status, 404);
    assert_eq!(neighbour.delete(ORDER).status, 404);
    assert_eq!(neighbour.delete(&format!("{ORDER}/schema")).status, 404);
    // What they declare holds for them.
    let strict = json!({ "schema": false, "mode": "reject" });
    told(&neighbour.call("PUT", &format!("{ORDER}/schema"), Some(strict)), 200);
    post(&tenant, &json!({ "number": 1 }), 1);
}
