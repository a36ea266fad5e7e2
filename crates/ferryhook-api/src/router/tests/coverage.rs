//! What must hold for every route, also for the one that is added tomorrow.

use ferryhook_core::key::Permissions;
use serde_json::{Value, json};

use crate::route::{Access, Route};
use crate::router::routes;
use crate::trial::{Said, Trial};

/// An address with an id of the right sort in place of each name, which nothing has.
pub(super) fn address(route: &Route, id: impl Fn(&str) -> String) -> String {
    let mut before = "";
    let parts = route.path.split('/').map(|part| {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let filled = match name {
            Some("id") => id(before),
            Some(name) => id(name),
            None => part.to_owned(),
        };
        before = part;
        filled
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Which prefix the id of a noun has, by the word in the address.
fn prefix(noun: &str) -> &'static str {
    match noun {
        "sources" | "sourceId" => "src_",
        "connections" | "connectionId" => "conn_",
        "events" | "eventId" => "evt_",
        "rejectionId" => "rej_",
        "replays" | "replayId" => "rpl_",
        "accounts" | "accountId" | "childId" => "acc_",
        "members" | "userId" => "usr_",
        "invitations" | "invitationId" => "inv_",
        "api-keys" | "keyId" => "key_",
        "sessions" | "sessionId" => "ses_",
        "erasures" | "erasureId" => "era_",
        "cliSessionId" => "lsn_",
        "hooks" | "hookId" => "hook_",
        "notifications" | "notificationId" => "ntf_",
        // A name, which can be anything.
        "typeName" => "type.n",
        other => panic!("say what an id of {other} looks like, so that its routes are tested"),
    }
}

pub(super) fn missing(noun: &str) -> String {
    format!("{}0000000000000000", prefix(noun))
}

/// Something to send, for the routes that take a body.
pub(super) fn body(route: &Route) -> Option<Value> {
    route.is_mutating().then(|| json!({}))
}

/// The answer without what is different each time.
pub(super) fn comparable(said: &Said) -> (u16, Value, Vec<(String, String)>) {
    let mut body: Value = serde_json::from_str(&said.text).unwrap_or(Value::Null);
    if let Some(fields) = body.as_object_mut() {
        fields.remove("requestId");
    }
    let headers = said.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (said.status.as_u16(), body, headers.collect())
}

#[tokio::test]
async fn a_key_does_what_its_scope_allows_and_nothing_else() {
    for scope in [Permissions::Read, Permissions::Write, Permissions::Admin] {
        for route in routes() {
            // A new one each time: one of the routes closes the account.
            let trial = Trial::new().await;
            let key = format!("Bearer {}", trial.new_key(scope).await);
            // In an account where they have a place, so that the scope decides and nothing else.
            let path = address(&route, |noun| match noun {
                "accounts" | "accountId" => trial.account.id.to_string(),
                other => missing(other),
            });
            let headers = [("authorization", key.as_str())];
            let said = trial.call(route.method.as_str(), &path, body(&route), &headers).await;
            let allowed = match route.access {
                Access::Public => continue,
                Access::Person => false,
                Access::Role(needed) => scope.role() >= needed,
            };
            let refused = said.status == 403;
            assert_eq!(!refused, allowed, "{scope:?} {route:?}: {}", said.text);
        }
    }
}

#[tokio::test]
async fn nothing_but_what_is_public_answers_without_proof() {
    let trial = Trial::new().await;
    for route in routes() {
        if route.access == Access::Public {
            continue;
        }
        let path = address(&route, missing);
        for wrong in ["Bearer fh_live_wrong", "Bearer x.y.z"] {
            let headers = [("authorization", wrong)];
            let said = trial.call(route.method.as_str(), &path, body(&route), &headers).await;
            assert_eq!(said.status, 401, "{route:?}");
        }
    }
}

/// An id that is not even one is as unknown as one that nobody has.
#[tokio::test]
async fn nonsense_in_an_address_is_not_found() {
    let trial = Trial::new().await;
    for route in routes() {
        let Access::Role(_) = route.access else { continue };
        if !route.path.contains('{') {
            continue;
        }
        let method = route.method.as_str();
        let ask =
            async |path: String| comparable(&trial.call(method, &path, body(&route), &[]).await);
        let known = ask(address(&route, missing)).await;
        if known.0 == 404 {
            for nonsense in ["x", "%00", "src_", "..%2f..", "evt_00000000000000000"] {
                let asked = ask(address(&route, |_| nonsense.to_owned())).await;
                assert_eq!(asked, known, "{route:?} {nonsense}");
            }
        }
    }
}

/// The same key gets the same answer, and nothing is made twice.
#[tokio::test]
async fn a_repeated_call_is_done_once() {
    let trial = Trial::new().await;
    let make = async |key: &str, body: Value| {
        trial.call("POST", "/v1/sources", Some(body), &[("idempotency-key", key)]).await
    };
    let first = make("one", json!({"name": "a"})).await;
    let again = make("\"one\"", json!({"name": "a"})).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(first.clone().expect(201), again.expect(201));
    let other = make("one", json!({"name": "b"})).await;
    assert_eq!(other.expect(422)["code"], "IDEMPOTENCY_KEY_REUSED");
    let sources = trial.get("/v1/sources").await.expect(200);
    assert_eq!(sources["data"].as_array().unwrap().len(), 1);
    // The same word of somebody else is another key.
    let neighbour = trial.neighbour().await;
    let theirs = neighbour
        .call("POST", "/v1/sources", Some(json!({"name": "a"})), &[("idempotency-key", "one")])
        .await;
    assert_ne!(first.expect(201)["sourceId"], theirs.expect(201)["sourceId"]);
    // What failed may be tried again.
    make("two", json!({"name": ""})).await.expect(400);
    make("two", json!({"name": ""})).await.expect(400);
    make("", json!({"name": "c"})).await.expect(400);
}

#[tokio::test]
async fn a_list_goes_on_where_its_link_says() {
    let trial = Trial::new().await;
    for name in ["a", "b", "c"] {
        trial.post("/v1/sources", json!({"name": name})).await.expect(201);
    }
    let mut seen = Vec::new();
    let mut path = "/v1/sources?limit=2".to_owned();
    for _ in 0..5 {
        let page = trial.get(&path).await;
        let link = page.headers.get("link").map(|link| link.to_str().unwrap().to_owned());
        let page = page.expect(200);
        seen.extend(page["data"].as_array().unwrap().iter().map(|one| one["name"].clone()));
        assert_eq!(page["hasMore"], link.is_some());
        let Some(link) = link else { break };
        path = link.trim_start_matches('<').split('>').next().unwrap().to_owned();
    }
    seen.sort_by_key(|name| name.to_string());
    assert_eq!(seen, ["a", "b", "c"]);
    for wrong in ["limit=0", "limit=101", "limit=x", "cursor=x", "nonsense=1"] {
        trial.get(&format!("/v1/sources?{wrong}")).await.expect(400);
    }
}

#[tokio::test]
async fn a_body_that_is_not_understood_is_told_why() {
    let trial = Trial::new().await;
    let said = trial.post("/v1/sources", json!({"name": "a", "colour": "red"})).await.expect(400);
    assert_eq!(said["code"], "VALIDATION_ERROR");
    assert_eq!(said["errors"][0]["pointer"], "/colour");
    let text = trial.call("POST", "/v1/sources", None, &[("content-type", "text/plain")]).await;
    assert_eq!(text.expect(415)["code"], "UNSUPPORTED_MEDIA_TYPE");
    let large = json!({"name": "a".repeat(2 * 1024 * 1024)});
    assert_eq!(trial.post("/v1/sources", large).await.expect(413)["code"], "PAYLOAD_TOO_LARGE");
}
