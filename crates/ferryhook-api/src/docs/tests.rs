use serde_json::json;

use super::page;
use crate::trial::Trial;

#[tokio::test]
async fn the_page_has_every_operation_and_loads_nothing_from_elsewhere() {
    let trial = Trial::new().await;
    let said = trial.get("/docs").await;
    assert!(
        said.headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'")
    );
    assert_eq!(said.headers["content-type"], "text/html; charset=utf-8");
    for route in crate::router::routes() {
        assert!(said.text.contains(&format!("id=\"{}\"", route.operation)), "{}", route.operation);
    }
    assert!(!said.text.contains("http://") && !said.text.contains("https://"), "a foreign address");
    assert!(!said.text.contains("<script"));
    assert_eq!(trial.get("/docs/style.css").await.status, 200);
}

#[test]
fn what_the_document_says_is_shown_as_text() {
    let page = page(&json!({"paths": {"/<b>": {"get": {
        "operationId": "\"><script>", "tags": ["<i>"], "responses": {}, "summary": "a < b"}}}}));
    assert!(!page.contains("<script>") && !page.contains("<i>"), "{page}");
    assert!(page.contains("a &lt; b"));
}
