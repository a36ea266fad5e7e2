use std::time::Duration;

use ferryhook_core::rejection::Cause;
use ferryhook_core::{Id, Rejection, Source, samples};
use serde_json::{Value, json};

use crate::trial::Trial;

async fn source(trial: &Trial) -> Source {
    let made = trial.post("/v1/sources", json!({ "name": "shop" })).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    trial.app.store.sources().find(id).await.unwrap().unwrap().record
}

pub(crate) async fn refused(trial: &Trial, source: &Source, n: u64, cause: Cause) -> Rejection {
    let at = trial.app.env.now() + Duration::from_secs(n);
    let rejection = Rejection {
        id: Id::at(at, &trial.app.env),
        source_id: source.id,
        account_id: source.account_id,
        cause,
        rejected_at: at,
        expires_at: None,
        ..samples::rejection()
    };
    trial.app.store.rejections().record(&rejection).await.unwrap();
    rejection
}

#[tokio::test]
async fn rejections_are_listed_by_cause_and_shown() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let mut made = Vec::new();
    for n in 0..10 {
        let cause = if n % 3 == 0 { Cause::Rate } else { Cause::Signature };
        made.push(refused(&trial, &source, n, cause).await);
    }
    let path = format!("/v1/sources/{}/rejections", source.id);
    let mut found = Vec::new();
    let mut next = format!("{path}?cause=rate&limit=3");
    loop {
        let page = trial.get(&next).await.expect(200);
        found.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["cursor"].as_str() else { break };
        next = format!("{path}?cause=rate&limit=3&cursor={cursor}");
    }
    let ids: Vec<_> = found.iter().map(|one| one["rejectionId"].clone()).collect();
    let expected: Vec<Value> = [9, 6, 3, 0].map(|n| json!(made[n].id)).into();
    assert_eq!(ids, expected, "newest first");

    let shown = trial.get(&format!("{path}/{}", made[1].id)).await.expect(200);
    assert_eq!((&shown["cause"], &shown["method"]), (&json!("signature"), &json!(made[1].method)));
    let other = trial.post("/v1/sources", json!({ "name": "other" })).await.expect(201);
    let elsewhere = format!("/v1/sources/{}/rejections", other["sourceId"].as_str().unwrap());
    trial.get(&format!("{elsewhere}/{}", made[1].id)).await.expect(404);
    let body = json!({ "rejectionIds": [made[1].id] });
    let said = trial.post(&format!("{elsewhere}/readmit"), body).await.expect(400);
    assert_eq!(said["errors"][0]["pointer"], "/rejectionIds/0");
    trial.post(&format!("{path}/readmit"), json!({})).await.expect(400);
    // Nobody is here who takes requests in.
    let body = json!({ "rejectionIds": [made[1].id] });
    let told = trial.post(&format!("{path}/readmit"), body).await.expect(200);
    assert_eq!(told["refused"].as_array().unwrap().len(), 1);
}
