use ferryhook_core::key::Permissions;
use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn a_key_is_told_whose_it_is() {
    let trial = Trial::new().await;
    let said = trial.get("/v1/whoami").await.expect(200);
    assert_eq!(said["accountId"], json!(trial.account.id));
    assert_eq!(said["role"], "admin");
    let reader = format!("Bearer {}", trial.new_key(Permissions::Read).await);
    let said = trial.call("GET", "/v1/whoami", None, &[("authorization", &reader)]).await;
    assert_eq!(said.expect(200)["role"], "viewer");
}

/// An account that is somebody else's and one that does not exist are the same to a stranger.
#[tokio::test]
async fn a_foreign_account_is_like_none() {
    let (trial, missing) = (Trial::new().await, "acc_0000000000000000");
    let neighbour = trial.neighbour().await;
    let foreign = neighbour.account.id.to_string();
    let ask = async |account: &str| {
        let said = trial.call("GET", "/v1/whoami", None, &[("x-ferryhook-account", account)]).await;
        let mut body = said.expect(403);
        body.as_object_mut().unwrap().remove("requestId");
        body
    };
    assert_eq!(ask(&foreign).await, ask(missing).await);
    assert_eq!(ask(missing).await, ask("nonsense").await);
}

#[tokio::test]
async fn nobody_passes_without_proof() {
    let trial = Trial::new().await;
    for wrong in ["", "Bearer", "Bearer fh_live_nothing", "Basic abc", "Bearer a.b.c"] {
        let said = trial.call("GET", "/v1/whoami", None, &[("authorization", wrong)]).await;
        assert_eq!(said.headers["www-authenticate"], "Bearer");
        assert_eq!(said.expect(401)["code"], "UNAUTHORIZED", "{wrong}");
    }
}
