//! What can be told without anybody who delivers; the rest is tested through the front door.

use ferryhook_core::connection::{DestinationType, Status};
use ferryhook_core::{Connection, Id, samples};
use serde_json::{Value, json};

use crate::apply;
use crate::owner::Owner;
use crate::trial::Trial;

async fn source(trial: &Trial) -> String {
    let made = trial.post("/v1/sources", json!({"name": "shop"})).await.expect(201);
    made["sourceId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let trial = Trial::new().await;
    let none = trial.post("/v1/cli/sessions", json!({})).await.expect(400);
    assert_eq!(none["errors"][0]["pointer"], "/sourceId");
    let id = source(&trial).await;
    let wrong = [
        ("/sourceId", json!({"sourceId": "src_0000000000000000"})),
        ("/path", json!({"sourceId": id, "path": "hooks"})),
        ("/path", json!({"sourceId": id, "path": "/a?b"})),
        ("/forwardTo", json!({"sourceId": id, "forwardTo": "file:///etc/passwd"})),
        ("/filters", json!({"sourceId": id, "filters": 7})),
        ("/signingSecret", json!({"sourceId": id, "signingSecret": ""})),
        ("/colour", json!({"sourceId": id, "colour": "red"})),
    ];
    for (pointer, body) in wrong {
        let said = trial.post("/v1/cli/sessions", body.clone()).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer, "{body}: {said}");
    }
    // Nobody delivers here.
    trial.post("/v1/cli/sessions", json!({"sourceId": id})).await.expect(503);
    let connections = trial.get(&format!("/v1/sources/{id}/connections")).await.expect(200);
    assert_eq!(connections["data"], json!([]));
    let neighbour = trial.neighbour().await;
    let theirs = neighbour.post("/v1/cli/sessions", json!({"sourceId": id})).await.expect(400);
    assert_eq!(theirs["errors"][0]["pointer"], "/sourceId");
}

/// Only a session makes such a connection, and only the end of the session changes it.
#[tokio::test]
async fn the_connection_of_a_listener_is_not_managed() {
    let trial = Trial::new().await;
    let id = source(&trial).await;
    let path = format!("/v1/sources/{id}/connections");
    let own = json!({"name": "a", "destinationUrl": "https://a.test/", "destinationType": "cli"});
    let said = trial.post(&path, own).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/destinationType");
    let connection = Connection {
        id: Id::new(&trial.app.env),
        source_id: id.parse().unwrap(),
        account_id: trial.account.id,
        user_id: trial.user.id,
        status: Status::Active,
        destination_type: DestinationType::Cli,
        filters: None,
        ..samples::connection()
    };
    trial.app.store.connections().create(&connection).await.unwrap();
    let own = format!("/v1/connections/{}", connection.id);
    assert_eq!(trial.get(&own).await.expect(200)["destinationType"], "cli");
    let patch = json!({"destinationUrl": "https://elsewhere.test/"});
    assert_eq!(trial.patch(&own, patch).await.expect(409)["code"], "CONFLICT");
    trial.post(&format!("{own}/rotate-secret"), json!({})).await.expect(409);
    // Configuration as a file knows nothing of it.
    let owner = Owner { user: trial.user.id, account: trial.account.id };
    let present = apply::read(&trial.app.store, owner).await.unwrap();
    assert_eq!(present.len(), 1);
    assert!(present[0].connections.is_empty());
    assert_eq!(trial.delete(&own).await.expect(204), Value::Null);
}
