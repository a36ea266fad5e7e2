//! Whoever names what a neighbour has is told what they are told of something that does not exist,
//! byte for byte but for the ids they sent: in addresses, queries, bodies and headers, of every
//! route, also of the one that is added tomorrow.

use std::collections::{BTreeSet, HashMap};

use ferryhook_core::rejection::Cause;
use ferryhook_core::{EventType, Id, Notification, Replay, samples};
use serde_json::{Value, json};

use super::coverage::{address, body, comparable, missing};
use crate::route::{Access, Route};
use crate::router::{description, routes};
use crate::trial::{Said, Trial};
use crate::{events, rejections};

/// Names that end like an id and are not one of ours.
const NOT_OURS: [&str; 2] = ["clientId", "planId"];

/// What an account has, by the name that stands for it in addresses.
struct Belongings(HashMap<&'static str, String>);

impl Belongings {
    async fn of(trial: &Trial) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
        let source = trial.post("/v1/sources", json!({"name": "theirs"})).await.expect(201);
        let source_id = text(&source["sourceId"]);
        let path = format!("/v1/sources/{source_id}/connections");
        let there = json!({"name": "there", "destinationUrl": "https://example.com/"});
        let connection = trial.post(&path, there).await.expect(201);
        let sources = trial.app.store.sources();
        let source = sources.find(source_id.parse().unwrap()).await.unwrap().unwrap();
        let event = events::tests::arrived(trial, &source, 1, |_| {}).await;
        let rejection = rejections::tests::refused(trial, &source, 1, Cause::Signature).await;
        let (id, account_id) = (Id::new(&trial.app.env), trial.account.id);
        let replay = Replay { id, account_id, ..samples::replay() };
        trial.app.store.replays().create(&replay).await.unwrap();
        let erasure = json!({"eventIds": [event.id]});
        let erasure = trial.post("/v1/erasures", erasure).await.expect(202);
        let hook = json!({"url": "https://example.com/", "events": ["order.*"]});
        let hook = trial.post("/v1/hooks", hook).await.expect(201);
        let (id, user_id) = (Id::new(&trial.app.env), trial.user.id);
        let notification = Notification { id, user_id, ..samples::notification() };
        trial.app.store.notifications().create(&notification).await.unwrap();
        let account = trial.account.id.to_string();
        let path = format!("/v1/accounts/{account}/invitations");
        let guest = json!({"email": "guest@example.com", "role": "viewer"});
        let invitation = trial.post(&path, guest).await.expect(201);
        let child = json!({"accountName": "child", "accountType": "division"});
        let child = trial.post("/v1/accounts", child).await.expect(201);
        let known = EventType::new(trial.account.id, "order.paid");
        trial.app.store.event_types().create(&known).await.unwrap();
        let keys = trial.get("/v1/api-keys").await.expect(200);
        let sessions = as_person(trial, "GET", "/v1/auth/sessions", None).await.expect(200);
        Self(HashMap::from([
            ("sourceId", source_id),
            ("connectionId", text(&connection["connectionId"])),
            ("eventId", event.id.to_string()),
            ("rejectionId", rejection.id.to_string()),
            ("replayId", replay.id.to_string()),
            ("erasureId", text(&erasure["erasureId"])),
            ("accountId", account),
            ("childId", text(&child["accountId"])),
            ("userId", trial.user.id.to_string()),
            ("invitationId", text(&invitation["invitationId"])),
            ("invitationToken", text(&invitation["token"])),
            ("keyId", text(&keys["data"][0]["keyId"])),
            ("hookId", text(&hook["hookId"])),
            ("notificationId", notification.id.to_string()),
            ("typeName", known.name),
            // Those live where events are delivered, which is not here.
            ("cliSessionId", "lsn_0000000000000001".to_owned()),
            ("sessionId", text(&sessions["data"][0]["sessionId"])),
        ]))
    }

    fn get(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| panic!("a neighbour needs a {name}"))
    }
}

async fn as_person(trial: &Trial, method: &str, path: &str, body: Option<Value>) -> Said {
    let bearer = trial.bearer().await;
    trial.call(method, path, body, &[("authorization", &bearer)]).await
}

/// As whoever the route is for.
async fn ask(trial: &Trial, route: &Route, path: &str, body: Option<Value>) -> Said {
    match route.access {
        Access::Person => as_person(trial, route.method.as_str(), path, body).await,
        Access::Role(_) | Access::Public => {
            trial.call(route.method.as_str(), path, body, &[]).await
        }
    }
}

/// A body that is understood, so that the id decides what is answered.
fn understood(route: &Route) -> Option<Value> {
    match route.operation {
        "connections.create" => {
            Some(json!({"name": "a", "destinationUrl": "https://example.com/"}))
        }
        "invitations.create" => Some(json!({"email": "a@example.com", "role": "viewer"})),
        "members.update" => Some(json!({"role": "viewer"})),
        "rejections.readmit" => Some(json!({"rejectionIds": [missing("rejectionId")]})),
        "cliSessions.report" => Some(json!({"results": []})),
        "connections.whatIf" => Some(json!({"rules": {}})),
        _ => body(route),
    }
}

#[tokio::test]
async fn in_an_address() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let theirs = Belongings::of(&neighbour).await;
    for route in routes() {
        if route.access == Access::Public || !route.path.contains('{') {
            continue;
        }
        if route.operation == "eventTypes.declare" {
            continue; // names are everybody's own, and to declare one makes it
        }
        let told =
            async |path: String| comparable(&ask(&trial, &route, &path, understood(&route)).await);
        let foreign = told(address(&route, |name| theirs.get(name))).await;
        assert_eq!(foreign, told(address(&route, missing)).await, "{route:?}");
        assert!(matches!(foreign.0, 403 | 404), "{route:?}: {foreign:?}");
        // Not because it is not there: its owner is told otherwise.
        if !route.is_mutating() && !route.path.contains("cliSessionId") {
            let own = address(&route, |name| theirs.get(name));
            let own = ask(&neighbour, &route, &own, None).await;
            assert!(own.status.is_success() || own.status == 503, "{route:?}: {}", own.text);
        }
    }
    // Nothing of it has happened.
    let sessions = as_person(&neighbour, "GET", "/v1/auth/sessions", None).await;
    assert!(sessions.text.contains(&theirs.get("sessionId")));
}

/// With the account in the header: for every route that is about one.
#[tokio::test]
async fn in_the_header() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    for route in routes() {
        let is_elsewhere = route.path.contains("{accountId}");
        if !matches!(route.access, Access::Role(_)) || is_elsewhere {
            continue;
        }
        let (method, path) = (route.method.as_str(), address(&route, missing));
        let told = async |account: &str| {
            let headers = [("x-ferryhook-account", account)];
            comparable(&trial.call(method, &path, understood(&route), &headers).await)
        };
        let foreign = told(neighbour.account.id.as_str()).await;
        assert_eq!(foreign, told(&missing("accountId")).await, "{route:?}");
        assert_eq!(foreign.0, 403, "{route:?}");
    }
}

/// Where in a request an id can stand, besides its address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    /// The name of a parameter.
    Query(String),
    /// The way to a field; `true` if it has a list of them.
    Body(Vec<String>, bool),
}

impl Spot {
    fn name(&self) -> &str {
        match self {
            Self::Query(name) => name,
            Self::Body(way, _) => way.last().unwrap(),
        }
    }

    /// The noun, whether one or several are named.
    fn noun(&self) -> &str {
        self.name().strip_suffix('s').unwrap_or(self.name())
    }

    /// The request with this id there.
    fn filled(&self, path: &str, body: Option<Value>, id: &str) -> (String, Option<Value>) {
        match self {
            Self::Query(name) => (format!("{path}?{name}={id}"), body),
            Self::Body(way, is_list) => {
                let mut body = body.unwrap_or_else(|| json!({}));
                let mut at = &mut body;
                for name in way {
                    at = &mut at[name];
                }
                *at = if *is_list { json!([id]) } else { json!(id) };
                (path.to_owned(), Some(body))
            }
        }
    }
}

/// What the description says of the operation's parameters and body.
fn spots(operation: &Value, schemas: &Value) -> BTreeSet<Spot> {
    let mut found = BTreeSet::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        if parameter["in"] == "query" && is_id(name) {
            found.insert(Spot::Query(name.to_owned()));
        }
    }
    for content in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        walk(&content.1["schema"], schemas, &mut Vec::new(), &mut found);
    }
    found
}

/// No type of ours holds itself, and none is deep.
fn walk(schema: &Value, schemas: &Value, way: &mut Vec<String>, found: &mut BTreeSet<Spot>) {
    assert!(way.len() < 16, "{way:?}");
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return walk(&schemas[name], schemas, way, found);
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        for one in schema[several].as_array().into_iter().flatten() {
            walk(one, schemas, way, found);
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        way.push(name.clone());
        if is_id(name) {
            found.insert(Spot::Body(way.clone(), name.ends_with("Ids")));
        }
        walk(inner, schemas, way, found);
        way.pop();
    }
}

fn is_id(name: &str) -> bool {
    (name.ends_with("Id") || name.ends_with("Ids")) && !NOT_OURS.contains(&name)
}

/// What an id needs beside it to be looked at.
fn beside(route: &Route, spot: &Spot) -> Option<Value> {
    match (route.operation, spot.name()) {
        ("erasures.create", "sourceId") => {
            let clause = json!([{"path": "body.a", "operator": "eq", "value": 1}]);
            Some(json!({"where": clause, "dryRun": true}))
        }
        ("erasures.create", _) => Some(json!({"dryRun": true})),
        ("replays.create", "connectionIds") => Some(json!({"filter": {}, "dryRun": true})),
        ("replays.create", _) => Some(json!({"dryRun": true})),
        ("connections.whatIf", _) => {
            let after = json!({"receivedAt": "2026-01-01T00:00:00Z"});
            Some(json!({"rules": {}, "after": after}))
        }
        ("rejections.readmit", _) => Some(json!({})),
        _ => understood(route),
    }
}

/// Those where one's own id is known to be answered otherwise: what is compared is not merely that
/// something else is wrong.
const TELLING: [(&str, &str); 7] = [
    ("connections.test", "eventId"),
    ("deadLetters.redrive", "eventIds"),
    ("erasures.create", "sourceId"),
    ("events.replay", "connectionIds"),
    ("rejections.readmit", "rejectionIds"),
    ("replays.create", "connectionIds"),
    ("replays.create", "sourceId"),
];

#[tokio::test]
async fn in_a_query_or_a_body() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let (ours, theirs) = (Belongings::of(&trial).await, Belongings::of(&neighbour).await);
    let description: Value = serde_json::from_str(description()).unwrap();
    let schemas = &description["components"]["schemas"];
    let mut telling = BTreeSet::new();
    for route in routes() {
        let method = route.method.as_str().to_lowercase();
        let spots = spots(&description["paths"][route.path][&method], schemas);
        // In an address that is one's own.
        let path = address(&route, |name| ours.get(name));
        for spot in spots {
            let told = async |id: &str| {
                let (path, body) = spot.filled(&path, beside(&route, &spot), id);
                without_ids(&ask(&trial, &route, &path, body).await)
            };
            let none = told(&missing(spot.noun())).await;
            assert_eq!(told(&theirs.get(spot.noun())).await, none, "{route:?} {spot:?}");
            if told(&ours.get(spot.noun())).await != none {
                telling.insert((route.operation, spot.name().to_owned()));
            }
        }
    }
    for (operation, name) in TELLING {
        let is_telling = telling.contains(&(operation, name.to_owned()));
        assert!(is_telling, "{operation} {name} is answered alike whatever it is: {telling:?}");
    }
}

/// The answer, with every id for its sort.
fn without_ids(said: &Said) -> (u16, String) {
    let (status, body, _) = comparable(said);
    let text = body.to_string();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let short = |word: &str| match word.split_once('_') {
        Some((sort, rest)) if rest.len() == 16 && sort.len() < 5 => format!("{sort}_…"),
        _ => word.to_owned(),
    };
    let mut shown = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        match is_part(c) {
            true => word.push(c),
            false => {
                shown += &short(&word);
                word.clear();
                shown.push(c);
            }
        }
    }
    (status, shown)
}

/// What a neighbour was given to go on with, or to get in with, is as good as nonsense.
#[tokio::test]
async fn in_a_cursor_or_a_token() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    for name in ["a", "b"] {
        trial.post("/v1/sources", json!({"name": name})).await.expect(201);
        neighbour.post("/v1/sources", json!({"name": name})).await.expect(201);
    }
    let page = neighbour.get("/v1/sources?limit=1").await.expect(200);
    let told = async |cursor: &str| {
        comparable(&trial.get(&format!("/v1/sources?limit=1&cursor={cursor}")).await)
    };
    let foreign = told(page["cursor"].as_str().unwrap()).await;
    assert_eq!(foreign, told("nonsense").await);
    assert_eq!(foreign.0, 400);

    let theirs = Belongings::of(&neighbour).await.get("invitationToken");
    let accept = async |token: &str| {
        let body = Some(json!({"token": token}));
        comparable(&as_person(&trial, "POST", "/v1/invitations/accept", body).await)
    };
    let mut other = theirs.clone();
    other.replace_range(10..12, "zz");
    let foreign = accept(&theirs).await;
    assert_eq!(foreign, accept(&other).await);
    assert_eq!(foreign, accept("nonsense").await);
    assert_eq!(foreign.0, 404);
}
