use std::time::Duration;

use ferryhook_core::operational::TYPES;
use ferryhook_core::{Id, Notification};
use serde_json::Value;

use crate::trial::Trial;

async fn told(trial: &Trial, count: usize) -> Vec<Notification> {
    let mut made = Vec::new();
    for place in 0..count {
        let said = TYPES[place % TYPES.len()].sample();
        let one = said.notification(trial.account.id, trial.user.id, &trial.app.env);
        let one = Notification {
            id: Id::new(&trial.app.env),
            created_at: one.created_at + Duration::from_secs(place as u64),
            ..one
        };
        trial.app.store.notifications().create(&one).await.unwrap();
        made.push(one);
    }
    made
}

#[tokio::test]
async fn a_person_reads_what_they_should_know() {
    let trial = Trial::new().await;
    let made = told(&trial, 3).await;
    let bearer = trial.bearer().await;
    let headers = [("authorization", bearer.as_str())];
    let ask = async |method: &str, path: &str| trial.call(method, path, None, &headers).await;
    let ids = |page: &Value| {
        let data = page["data"].as_array().unwrap().iter();
        data.map(|one| one["notificationId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let count = ask("GET", "/v1/notifications/unread-count").await.expect(200);
    assert_eq!(count["unread"], 3);
    let path = format!("/v1/notifications/{}/read", made[2].id);
    assert_eq!(ask("POST", &path).await.expect(200)["isRead"], true);
    assert_eq!(ask("POST", &path).await.expect(200)["isRead"], true);
    let page = ask("GET", "/v1/notifications?limit=2").await.expect(200);
    assert_eq!(ids(&page), [made[1].id.to_string(), made[0].id.to_string()]);
    let cursor = page["cursor"].as_str().unwrap();
    let rest = ask("GET", &format!("/v1/notifications?limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!(ids(&rest), [made[2].id.to_string()]);
    assert_eq!(ask("POST", "/v1/notifications/read-all").await.expect(200)["unread"], 0);
}

#[tokio::test]
async fn nobody_reads_those_of_another() {
    let trial = Trial::new().await;
    let made = told(&trial, 1).await;
    let neighbour = trial.neighbour().await;
    let bearer = neighbour.bearer().await;
    let headers = [("authorization", bearer.as_str())];
    let path = format!("/v1/notifications/{}/read", made[0].id);
    neighbour.call("POST", &path, None, &headers).await.expect(404);
    let none = neighbour.call("GET", "/v1/notifications", None, &headers).await.expect(200);
    assert_eq!(none["data"].as_array().unwrap().len(), 0);
    // Nor does a key, whoever's it is: they are a person's.
    trial.get("/v1/notifications").await.expect(403);
}
