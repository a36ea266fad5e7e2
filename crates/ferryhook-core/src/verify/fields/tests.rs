use serde_json::json;

use crate::verify::{NoCertificates, Reason, Request, Verdict, Verifier};
use crate::{Headers, Map, Secret, Timestamp};

const KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

fn check(provider: &str, body: &serde_json::Value) -> Verdict {
    let verifier = Verifier::new(provider, &[Secret::new(KEY)], &Map::new()).unwrap();
    let (headers, body) = (Headers::default(), body.to_string());
    let request = Request { method: "POST", url: "", headers: &headers, body: body.as_bytes() };
    verifier.check(&request, Timestamp::default(), &NoCertificates)
}

/// The example of Adyen's documents, with its key and its signature.
#[test]
fn one_item_that_is_not_signed_spoils_the_batch() {
    let item = |signature: &str| {
        json!({"NotificationRequestItem": {
            "pspReference": "7914073381342284", "originalReference": "",
            "merchantAccountCode": "TestMerchant", "merchantReference": "TestPayment-1407325143704",
            "amount": {"value": 1130, "currency": "EUR"}, "eventCode": "AUTHORISATION",
            "success": "true", "additionalData": {"hmacSignature": signature},
        }})
    };
    let right = item("coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=");
    let wrong = item("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    let items = |list: &[&serde_json::Value]| json!({"live": "false", "notificationItems": list});
    assert_eq!(check("adyen", &items(&[&right])), Verdict::Valid);
    assert_eq!(check("adyen", &items(&[&right, &right])), Verdict::Valid);
    assert_eq!(check("adyen", &items(&[&right, &wrong])), Verdict::Invalid(Reason::Mismatch));
    let empty = check("adyen", &items(&[]));
    assert_eq!(empty, Verdict::Invalid(Reason::Body("it has no items, or too many".into())));
    assert_eq!(check("adyen", &right), Verdict::Valid);
    for other in [json!(null), json!({"0": wrong}), json!("x"), json!(0)] {
        let mut beside = right.clone();
        beside["notificationItems"] = other;
        let reason = Reason::Body("notificationItems is no list".into());
        assert_eq!(check("adyen", &beside), Verdict::Invalid(reason), "{beside}");
    }
    let unsigned = json!({"NotificationRequestItem": {"pspReference": "1"}});
    let verdict = check("adyen", &items(&[&right, &unsigned]));
    let reason = Reason::Body("the field additionalData/hmacSignature is missing".into());
    assert_eq!(verdict, Verdict::Invalid(reason));
}

/// Nothing at all would be signed, and anybody could have signed that.
#[test]
fn fields_that_are_missing_are_not_taken_for_empty_ones() {
    let verdict = check("mailgun", &json!({"signature": {"signature": "00", "timestamp": "1"}}));
    let reason = Reason::Body("the field token is missing".into());
    assert_eq!(verdict, Verdict::Invalid(reason));
}
