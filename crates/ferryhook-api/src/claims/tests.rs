use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn what_is_claimed_is_done_once() {
    let trial = Trial::new().await;
    let claim = json!({ "key": "invoice:77", "leaseSeconds": 30 });
    let mine = trial.post("/v1/ledger/claim", claim.clone()).await.expect(200);
    assert_eq!(
        (&mine["outcome"], &mine["leaseUntil"]),
        (&json!("claimed"), &json!("2026-01-01T00:00:30.000Z"))
    );
    let other = trial.post("/v1/ledger/claim", claim.clone()).await.expect(200);
    assert_eq!((&other["outcome"], &other["token"]), (&json!("busy"), &json!(null)));

    let wrong = json!({ "key": "invoice:77", "token": 1 });
    assert_eq!(trial.post("/v1/ledger/complete", wrong).await.expect(409)["code"], "CONFLICT");
    let end = json!({ "key": "invoice:77", "token": mine["token"] });
    assert_eq!(trial.post("/v1/ledger/release", end).await.status, 204);
    let again = trial.post("/v1/ledger/claim", claim.clone()).await.expect(200);
    assert!(again["token"].as_u64() > mine["token"].as_u64(), "{again} {mine}");
    let end = json!({ "key": "invoice:77", "token": again["token"] });
    assert_eq!(trial.post("/v1/ledger/complete", end).await.status, 204);
    let late = trial.post("/v1/ledger/claim", claim).await.expect(200);
    assert_eq!(late["outcome"], "done");
}

#[tokio::test]
async fn two_accounts_never_meet_in_a_key() {
    let trial = Trial::new().await;
    let neighbour = trial.neighbour().await;
    let claim = json!({ "key": "invoice:77" });
    let mine = trial.post("/v1/ledger/claim", claim.clone()).await.expect(200);
    let theirs = neighbour.post("/v1/ledger/claim", claim).await.expect(200);
    assert_eq!(theirs["outcome"], "claimed");
    let end = json!({ "key": "invoice:77", "token": mine["token"] });
    trial.post("/v1/ledger/complete", end).await.expect(204);
}

#[tokio::test]
async fn the_bounds_hold() {
    let trial = Trial::new().await;
    let long = "k".repeat(crate::limits::CLAIM_KEY_BYTES_MAX + 1);
    for (body, pointer) in [
        (json!({ "key": "" }), "/key"),
        (json!({ "key": long }), "/key"),
        (json!({ "key": "a", "leaseSeconds": 0 }), "/leaseSeconds"),
        (json!({ "key": "a", "keepSeconds": u32::MAX }), "/keepSeconds"),
    ] {
        let said = trial.post("/v1/ledger/claim", body).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], pointer);
    }
}
