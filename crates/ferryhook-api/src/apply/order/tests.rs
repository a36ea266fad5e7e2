use serde_json::{Value, json};

use crate::trial::Trial;

const MANIFEST: &str = "sources:\n  - name: shop\n    connections:\n      - name: crm\n        url: https://crm.example.com\n        headers: { X-Key: { $secret: env:CRM_KEY } }\n";

fn order(more: &Value) -> Value {
    let mut order = json!({ "manifest": MANIFEST, "secrets": { "CRM_KEY": "open sesame" } });
    order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    order
}

fn said(outcome: &Value) -> Vec<String> {
    let change = |change: &Value| {
        let word = |name: &str| change[name].as_str().unwrap_or("-").to_owned();
        format!("{} {}/{}", word("what"), word("source"), word("connection"))
    };
    outcome["changes"].as_array().unwrap().iter().map(change).collect()
}

#[tokio::test]
async fn a_manifest_is_for_the_account_of_its_sender() {
    let trial = Trial::new().await;
    let would = trial.post("/v1/apply", order(&json!({ "dryRun": true }))).await.expect(200);
    assert_eq!(said(&would), ["created shop/-", "created shop/crm"]);
    assert_eq!(trial.get("/v1/sources").await.expect(200)["data"], json!([]));

    let did = trial.post("/v1/apply", order(&json!({}))).await.expect(200);
    assert_eq!(said(&did), ["created shop/-", "created shop/crm"]);
    assert!(did["changes"][1]["signingSecret"].as_str().unwrap().starts_with("whsec_"));
    let again = trial.post("/v1/apply", order(&json!({}))).await.expect(200);
    assert_eq!((said(&again), &again["unchanged"]), (vec![], &json!(2)));

    let neighbour = trial.neighbour().await;
    let theirs = neighbour.post("/v1/apply", order(&json!({ "prune": true }))).await.expect(200);
    assert_eq!(said(&theirs), ["created shop/-", "created shop/crm"], "theirs, not ours");
    let ours = trial.get("/v1/export").await.expect(200);
    let text = ours["manifest"].as_str().unwrap();
    assert!(text.contains("name: shop") && !text.contains("open sesame"), "{text}");
}

#[tokio::test]
async fn who_applied_what_is_in_the_log_without_its_secrets() {
    let trial = Trial::new().await;
    trial.post("/v1/apply", order(&json!({}))).await.expect(200);
    let log = trial.get("/v1/activities").await.expect(200);
    let line = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line.to_string().contains("source_applied"));
    let line = line.unwrap_or_else(|| panic!("{log:#}")).to_string();
    assert!(line.contains(r#""connection":"crm""#), "{line}");
    assert!(!line.contains("whsec_") && !line.contains("open sesame"), "{line}");
}

#[tokio::test]
async fn mistakes_are_named_by_file_and_line_and_change_nothing() {
    let trial = Trial::new().await;
    let order = json!({ "file": "hooks.yaml", "manifest": "sources:\n  - nam: shop\n" });
    let problem = trial.post("/v1/apply", order).await.expect(400);
    assert_eq!(problem["detail"], "hooks.yaml has mistakes, so nothing was changed.");
    let first = problem["errors"][0]["message"].as_str().unwrap();
    assert!(first.starts_with("hooks.yaml:2:"), "{first}");
    assert_eq!(trial.get("/v1/sources").await.expect(200)["data"], json!([]));
}
