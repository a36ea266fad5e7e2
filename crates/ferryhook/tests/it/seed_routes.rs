//! Every route that the product was first described with, but for billing and analytics, from one
//! end to the other: with the token of a person and with a key of each scope. Whether it is
//! allowed is what `docs/access.md` says.

use serde_json::{Value, json};

use crate::client::{Client, Tenant, told};
use crate::destination::Destination;

const ACCESS: &str = include_str!("../../../../docs/access.md");

struct Seed {
    method: &'static str,
    /// As the table of rights writes it.
    path: &'static str,
    body: fn(&Things) -> Value,
    /// What whoever may is answered.
    status: u16,
    /// And what has to be in that.
    has: &'static [&'static str],
}

/// Made anew for each request, because some of them take one of these away.
struct Things {
    source: String,
    connection: String,
    event: String,
    key: String,
    url: String,
}

fn nothing(_: &Things) -> Value {
    Value::Null
}

fn renamed(_: &Things) -> Value {
    json!({ "name": "renamed" })
}

const SEEDS: &[Seed] = &[
    Seed {
        method: "POST",
        path: "/v1/sources",
        body: |_| json!({ "name": "shop" }),
        status: 201,
        has: &["sourceId", "ingestUrl"],
    },
    Seed { method: "GET", path: "/v1/sources", body: nothing, status: 200, has: &["data"] },
    Seed {
        method: "GET",
        path: "/v1/sources/{sourceId}",
        body: nothing,
        status: 200,
        has: &["sourceId"],
    },
    Seed {
        method: "PATCH",
        path: "/v1/sources/{sourceId}",
        body: renamed,
        status: 200,
        has: &["name"],
    },
    Seed {
        method: "POST",
        path: "/v1/sources/{sourceId}/connections",
        body: |things| json!({ "name": "other", "destinationUrl": things.url }),
        status: 201,
        has: &["connectionId", "signingSecret"],
    },
    Seed {
        method: "GET",
        path: "/v1/sources/{sourceId}/connections",
        body: nothing,
        status: 200,
        has: &["data"],
    },
    Seed {
        method: "PATCH",
        path: "/v1/connections/{connectionId}",
        body: renamed,
        status: 200,
        has: &["name"],
    },
    Seed {
        method: "GET",
        path: "/v1/sources/{sourceId}/events",
        body: nothing,
        status: 200,
        has: &["data"],
    },
    Seed {
        method: "GET",
        path: "/v1/events/{eventId}",
        body: nothing,
        status: 200,
        has: &["eventId", "deliveries", "attempts"],
    },
    Seed {
        method: "POST",
        path: "/v1/events/{eventId}/replay",
        body: |_| json!({}),
        status: 202,
        has: &["eventId", "connections"],
    },
    Seed {
        method: "POST",
        path: "/v1/events/replay",
        body: |things| json!({ "eventIds": [things.event] }),
        status: 202,
        has: &["replayId"],
    },
    Seed {
        method: "POST",
        path: "/v1/api-keys",
        body: |_| json!({ "name": "another", "permissions": "read" }),
        status: 201,
        has: &["keyId", "key"],
    },
    Seed { method: "GET", path: "/v1/api-keys", body: nothing, status: 200, has: &["data"] },
    Seed { method: "DELETE", path: "/v1/api-keys/{keyId}", body: nothing, status: 204, has: &[] },
    Seed {
        method: "DELETE",
        path: "/v1/connections/{connectionId}",
        body: nothing,
        status: 204,
        has: &[],
    },
    Seed { method: "DELETE", path: "/v1/sources/{sourceId}", body: nothing, status: 204, has: &[] },
];

/// Whoever asks, and the column of the table that tells what they may.
fn callers(tenant: &Tenant) -> Vec<(&'static str, Client, usize)> {
    let key = |scope| tenant.person.with(&tenant.person.new_key(scope));
    vec![
        ("a person", tenant.person.clone(), 6),
        ("a key to read", key("read"), 3),
        ("a key to write", key("write"), 4),
        ("a key of an admin", key("admin"), 6),
    ]
}

/// The cell of the table: `yes` or `–`.
fn allowed(seed: &Seed, column: usize) -> bool {
    let request = format!("`{} {}`", seed.method, seed.path);
    let row = ACCESS.lines().find(|line| line.split('|').any(|cell| cell.trim() == request));
    let row = row.unwrap_or_else(|| panic!("docs/access.md lacks {request}"));
    match row.split('|').nth(column).map(str::trim) {
        Some("yes") => true,
        Some("–") => false,
        other => panic!("{request}: {other:?}"),
    }
}

impl Things {
    fn made(tenant: &Tenant, destination: &Destination) -> Self {
        let url = destination.url("crm");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let source = text(&tenant.post("/v1/sources", json!({ "name": "shop" }))["sourceId"]);
        let path = format!("/v1/sources/{source}/connections");
        let connection = tenant.post(&path, json!({ "name": "crm", "destinationUrl": url }));
        let answer = tenant.ferry.post(&format!("/in/{source}"), b"{}");
        let event = text(&told(&answer, 200)["id"]);
        tenant.wait(&format!("/v1/events/{event}"), |story| {
            let deliveries = story["deliveries"].as_array().unwrap();
            deliveries.iter().any(|one| one["settledAt"].is_string())
        });
        let key = json!({ "name": "to revoke", "permissions": "read" });
        let key = text(&told(&tenant.person.post("/v1/api-keys", key), 201)["keyId"]);
        Self { source, connection: text(&connection["connectionId"]), event, key, url }
    }

    fn address(&self, path: &str) -> String {
        path.replace("{sourceId}", &self.source)
            .replace("{connectionId}", &self.connection)
            .replace("{eventId}", &self.event)
            .replace("{keyId}", &self.key)
    }
}

#[test]
fn each_does_what_the_table_of_rights_says() {
    let destination = Destination::kind();
    let tenant = Tenant::new();
    for (who, client, column) in callers(&tenant) {
        for seed in SEEDS {
            let things = Things::made(&tenant, &destination);
            let body = Some((seed.body)(&things)).filter(|body| !body.is_null());
            let answer = client.call(seed.method, &things.address(seed.path), body);
            let asked = format!("{who}: {} {}", seed.method, seed.path);
            if !allowed(seed, column) {
                assert_eq!(answer.status, 403, "{asked}: {answer:?}");
                assert_eq!(answer.json()["code"], "FORBIDDEN", "{asked}");
                continue;
            }
            assert_eq!(answer.status, seed.status, "{asked}: {answer:?}");
            for name in seed.has {
                assert!(!answer.json()[*name].is_null(), "{asked} has no {name}: {answer:?}");
            }
        }
    }
}

/// Those that need no proof, or bring another.
#[test]
fn signing_up_and_in_needs_no_proof() {
    let tenant = Tenant::with(&[("GITHUB_CLIENT_ID", "ferry"), ("GITHUB_CLIENT_SECRET", "hush")]);
    let nobody = Client::of(&tenant.ferry, "");
    let (email, password) = ("two@example.com", "correct horse 7");
    let new = json!({ "email": email, "password": password, "name": "Two" });
    let said = told(&nobody.post("/v1/auth/signup", new), 201);
    assert!(
        ["accessToken", "expiresIn", "user", "account"].iter().all(|name| !said[*name].is_null())
    );
    let again = nobody.post("/v1/auth/login", json!({ "email": email, "password": password }));
    told(&nobody.with(told(&again, 200)["accessToken"].as_str().unwrap()).get("/v1/whoami"), 200);
    let cookie = again.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = format!("cookie: {cookie}\r\n");
    let refreshed = told(&tenant.ferry.post_with("/v1/auth/refresh", &headers, b""), 200);
    assert!(refreshed["accessToken"].is_string());
    assert_eq!(nobody.call("POST", "/v1/auth/refresh", None).status, 401);
    // Whom GitHub sends back is another test's; here it is how they leave, and that a stranger
    // does not come in by it.
    let leaves = nobody.get("/v1/auth/github");
    let to = leaves.header("location").unwrap_or_default();
    assert!(to.starts_with("https://github.com/login/oauth/authorize?"), "{leaves:?}");
    assert_eq!(nobody.get("/v1/auth/github/callback?state=x&code=y").status, 403);
}
