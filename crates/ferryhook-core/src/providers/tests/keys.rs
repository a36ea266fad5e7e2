//! The keys of HubSpot and Aloware: what must be one event, and what must not.

use serde_json::{Value, json};

use super::*;

fn key(provider: &str, body: &Value) -> Option<String> {
    let (headers, body) = (Headers::default(), body.to_string().into());
    let arriving = Arriving { headers: &headers, query: None, path: None, body: &body };
    Rule::of_provider(provider).unwrap().key(&arriving)
}

/// A notification with some of its fields changed; `null` takes one away.
fn hubspot(changes: &Value) -> Option<String> {
    let mut body = json!({
        "eventId": 3816279340u64, "subscriptionId": 25, "portalId": 62515, "appId": 11,
        "occurredAt": 1462216307945u64, "subscriptionType": "contact.propertyChange",
        "attemptNumber": 0, "objectId": 1246965, "propertyName": "lifecyclestage",
        "propertyValue": "subscriber", "changeSource": "CRM",
    });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(body.as_object_mut().unwrap().remove(name)),
            value => body[name] = value.clone(),
        }
    }
    key("hubspot", &body)
}

#[test]
fn a_notification_of_hubspot_starts_with_the_documented_form() {
    let generic = json!({"objectTypeId": "0-1", "subscriptionType": "object.creation",
        "propertyName": null, "portalId": null});
    assert_eq!(hubspot(&generic).unwrap(), "0-1:1246965:object.creation:1462216307945");
    let classic = "1246965:contact.propertyChange:1462216307945@62515#lifecyclestage";
    assert_eq!(hubspot(&json!({})).unwrap(), classic);
}

#[test]
fn a_copy_of_hubspot_is_a_copy_however_often_it_was_tried() {
    let same = [
        json!({"attemptNumber": 9}),
        // Not promised to be unique, so not promised to stay the same either.
        json!({"eventId": 1}),
        json!({"changeSource": "IMPORT"}),
    ];
    for change in same {
        assert_eq!(hubspot(&change), hubspot(&json!({})), "{change}");
    }
}

#[test]
fn what_differs_for_hubspot_is_another_event() {
    let association = |from: u32, to: u32, kind: &str, removed: bool| {
        json!({"objectId": null, "propertyName": null, "fromObjectId": from, "toObjectId": to,
            "subscriptionType": "contact.associationChange", "associationType": kind,
            "associationRemoved": removed})
    };
    let merge = |merged: &[u32]| {
        json!({"objectId": null, "propertyName": null, "subscriptionType": "contact.merge",
            "primaryObjectId": 1246965, "mergedObjectIds": merged})
    };
    let message = |id: &str| {
        json!({"propertyName": null, "subscriptionType": "conversation.newMessage",
            "messageId": id})
    };
    let all = [
        json!({}),
        json!({"portalId": 62516}),
        json!({"objectId": 1246966}),
        json!({"occurredAt": 1462216307946u64}),
        json!({"propertyName": "email"}),
        json!({"subscriptionType": "contact.creation", "propertyName": null}),
        json!({"objectTypeId": "0-1"}),
        json!({"objectTypeId": "0-2"}),
        // Without a time, a later change is still not taken for a copy.
        json!({"occurredAt": null}),
        json!({"occurredAt": null, "eventId": 2}),
        association(1, 2, "CONTACT_TO_COMPANY", false),
        association(2, 1, "COMPANY_TO_CONTACT", false),
        association(1, 3, "CONTACT_TO_COMPANY", false),
        association(1, 2, "CONTACT_TO_COMPANY", true),
        association(1, 2, "CONTACT_TO_DEAL", false),
        merge(&[7]),
        merge(&[8]),
        message("a"),
        message("b"),
    ];
    let mut keys: Vec<_> = all.iter().map(|change| hubspot(change).unwrap()).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "{keys:#?}");
}

#[test]
fn without_an_object_or_a_subscription_hubspot_has_no_key() {
    assert_eq!(hubspot(&json!({"objectId": null})), None);
    assert_eq!(hubspot(&json!({"subscriptionType": null})), None);
}

#[test]
fn what_happens_to_one_call_of_aloware_is_several_events() {
    let sent = |event: &str, id: u32| json!({"event": event, "body": {"id": id}});
    let completed = key("aloware", &sent("OutboundPhoneCall-DispositionCompleted", 719285063));
    assert_eq!(completed.as_deref(), Some("719285063#OutboundPhoneCall-DispositionCompleted"));
    assert_eq!(
        completed,
        key("aloware", &sent("OutboundPhoneCall-DispositionCompleted", 719285063))
    );
    assert_ne!(completed, key("aloware", &sent("transcription.call.summarized", 719285063)));
    assert_ne!(completed, key("aloware", &sent("OutboundPhoneCall-DispositionCompleted", 1)));
    // Without the envelope it is the documented form and nothing else.
    assert_eq!(key("aloware", &json!({"id": 719285063})).as_deref(), Some("719285063"));
    assert_eq!(key("aloware", &json!({"event": "Ping"})), None);
}
