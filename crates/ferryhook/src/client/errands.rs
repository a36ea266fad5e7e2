//! Errands: what commands ask at the desk of a store, asked of a server instead.
//!
//! The answers are the same, because the desk answers in the words of the API.

use ferryhook_api::dead_letters::Redriven;
use ferryhook_api::page::Page;
use ferryhook_core::{Connection, Event, Id};
use serde_json::{Value, json};

use super::{Client, Failure, with_query};
use crate::desk::orders::{Asked, Erase, Readmit, Refused, ReplayMany, ReplayOne, Shown, Wanted};

pub async fn run(client: &Client, asked: Asked) -> Result<Value, Failure> {
    match asked {
        Asked::ListEvents(wanted) => list_events(client, &wanted).await,
        Asked::ShowEvent(Shown { event, with_body }) => {
            let path = format!("/v1/events/{event}?body={with_body}");
            client.get(&path).await.map_err(|failure| failure.about("event", event))
        }
        Asked::Explain(event) => {
            let path = format!("/v1/events/{event}/explain");
            client.get(&path).await.map_err(|failure| failure.about("event", event))
        }
        Asked::ListRejections(refused) => list_rejections(client, &refused).await,
        Asked::ShowRejection { source, id } => {
            let source = client.find_source(&source).await?.source_id;
            let path = format!("/v1/sources/{source}/rejections/{id}");
            client.get(&path).await.map_err(|failure| failure.about("rejection", id))
        }
        Asked::Readmit(order) => readmit(client, &order).await,
        Asked::Replay(order) => replay(client, &order).await,
        Asked::CountReplay(order, _) => {
            let mut body = replay_body(client, &order).await?;
            body["dryRun"] = true.into();
            counted(client.post("/v1/events/replay", &body).await?)
        }
        Asked::ReplayMany(order) => {
            let body = replay_body(client, &order).await?;
            client.post("/v1/events/replay", &body).await
        }
        Asked::ListReplays { limit } => pages(client, "/v1/replays", limit).await,
        Asked::ShowReplay(id) => {
            let shown = client.get(&format!("/v1/replays/{id}")).await;
            shown.map_err(|failure| failure.about("replay", id))
        }
        Asked::CancelReplay(id) => {
            let shown = client.post(&format!("/v1/replays/{id}/cancel"), &json!({})).await;
            shown.map_err(|failure| failure.about("replay", id))
        }
        Asked::CountErasure(order, _) => {
            let mut body = erase_body(client, &order).await?;
            body["dryRun"] = true.into();
            counted(client.post("/v1/erasures", &body).await?)
        }
        Asked::Erase(order) => {
            let body = erase_body(client, &order).await?;
            client.post("/v1/erasures", &body).await
        }
        Asked::ListErasures { limit } => pages(client, "/v1/erasures", limit).await,
        Asked::ShowErasure(id) => {
            let shown = client.get(&format!("/v1/erasures/{id}")).await;
            shown.map_err(|failure| failure.about("erasure", id))
        }
        Asked::CancelErasure(id) => {
            let shown = client.post(&format!("/v1/erasures/{id}/cancel"), &json!({})).await;
            shown.map_err(|failure| failure.about("erasure", id))
        }
        Asked::ListDeadLetters { limit } => pages(client, "/v1/dead-letters", limit).await,
        Asked::ListFailures { limit } => pages(client, "/v1/failures", limit).await,
        Asked::Redrive(events) => redrive(client, &events).await,
        Asked::WhatIf(_) => {
            Err(Failure::Unsendable("what-if is asked where the data is".to_owned()))
        }
        Asked::VerifyLogs { .. } => {
            Err(Failure::Unsendable("the audit logs are checked where the data is".to_owned()))
        }
        Asked::Plans(_) => {
            Err(Failure::Unsendable("plans are changed where the data is".to_owned()))
        }
    }
}

/// The path and the filters of a list of events.
pub async fn events_path(client: &Client, wanted: &Wanted) -> Result<String, Failure> {
    let path = match &wanted.source {
        Some(source) => {
            format!("/v1/sources/{}/events", client.find_source(source).await?.source_id)
        }
        None => "/v1/events".to_owned(),
    };
    let filters = [
        ("status", wanted.status.map(|status| status.to_string())),
        ("type", wanted.event_type.clone()),
        ("from", wanted.from.map(|at| at.to_string())),
        ("to", wanted.to.map(|at| at.to_string())),
        ("q", wanted.text.clone()),
    ];
    Ok(with_query(&path, filters))
}

async fn list_events(client: &Client, wanted: &Wanted) -> Result<Value, Failure> {
    let path = events_path(client, wanted).await?;
    pages(client, &path, wanted.limit).await
}

async fn list_rejections(client: &Client, refused: &Refused) -> Result<Value, Failure> {
    let source = client.find_source(&refused.source).await?.source_id;
    let cause = refused.cause.map(|cause| json!(cause).as_str().unwrap_or_default().to_owned());
    let path = with_query(&format!("/v1/sources/{source}/rejections"), [("cause", cause)]);
    pages(client, &path, refused.limit).await
}

async fn readmit(client: &Client, order: &Readmit) -> Result<Value, Failure> {
    let source = client.find_source(&order.source).await?.source_id;
    let ids = Some(&order.ids).filter(|ids| !ids.is_empty());
    let body = without_nothing(json!({ "rejectionIds": ids, "cause": order.cause }));
    client.post(&format!("/v1/sources/{source}/rejections/readmit"), &body).await
}

async fn replay(client: &Client, order: &ReplayOne) -> Result<Value, Failure> {
    let body = json!({ "connectionIds": connections(client, &order.to).await? });
    let told = client.post(&format!("/v1/events/{}/replay", order.event), &body).await;
    told.map_err(|failure| failure.about("event", order.event))
}

async fn replay_body(client: &Client, order: &ReplayMany) -> Result<Value, Failure> {
    let Wanted { source, status, event_type, from, to, .. } = &order.wanted;
    let source = match source {
        Some(source) => Some(client.find_source(source).await?.source_id),
        None => None,
    };
    let filter = without_nothing(json!({
        "sourceId": source, "status": status, "eventType": event_type, "from": from, "to": to,
    }));
    let (ids, filter) = match order.ids.is_empty() {
        true => (None, Some(filter)),
        false => (Some(&order.ids), None),
    };
    Ok(without_nothing(json!({
        "eventIds": ids,
        "filter": filter,
        "connectionIds": connections(client, &order.to).await?,
        "ratePerSecond": order.rate_per_second,
    })))
}

async fn erase_body(client: &Client, order: &Erase) -> Result<Value, Failure> {
    let filter = match &order.filter {
        Some(text) => Some(
            serde_json::from_str::<Value>(text)
                .map_err(|error| Failure::Unsendable(format!("the filter is not JSON: {error}")))?,
        ),
        None => None,
    };
    let source = match &order.source {
        Some(source) => Some(client.find_source(source).await?.source_id),
        None => None,
    };
    let ids = Some(&order.ids).filter(|_| filter.is_none());
    Ok(without_nothing(json!({
        "eventIds": ids, "where": filter, "sourceId": source, "from": order.from, "to": order.to,
    })))
}

/// Calls until there are no more: one call drives so many again.
async fn redrive(client: &Client, events: &[Id<Event>]) -> Result<Value, Failure> {
    let body = match events.is_empty() {
        true => json!({ "all": true }),
        false => json!({ "eventIds": events }),
    };
    let told: Redriven = client.post("/v1/dead-letters/redrive", &body).await?;
    Ok(json!(told))
}

async fn connections(client: &Client, texts: &[String]) -> Result<Vec<Id<Connection>>, Failure> {
    let mut found = Vec::with_capacity(texts.len());
    for text in texts {
        found.push(match text.parse() {
            Ok(id) => id,
            Err(_) => client.find_connection(text).await?.connection_id,
        });
    }
    Ok(found)
}

async fn pages(client: &Client, path: &str, limit: usize) -> Result<Value, Failure> {
    let page: Page<Value> = client.list(path, limit).await?;
    // Cursors are for clients that go on; nobody goes on from what we print.
    Ok(json!({ "data": page.data, "hasMore": page.has_more }))
}

/// One count is all that the server offers; it says when it did not see everything.
fn counted(mut count: Value) -> Result<Value, Failure> {
    if count["isLowerBound"] == true {
        eprintln!("there are more events than the server looks at for a count; it may be more");
    }
    count["next"] = Value::Null;
    Ok(count)
}

/// Without the fields that say nothing.
fn without_nothing(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    body
}
