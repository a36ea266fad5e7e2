//! Messages of Stripe, signed by its own library: whatever comes, twice, late or false, nobody has
//! a wrong plan.

use serde_json::{Value, json};

use super::library::Library;
use super::shop::{FORMER_SECRET, SECRET, Shop, now, plans};
use crate::client::told;

#[test]
fn a_plan_is_bought_changed_and_ended() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    assert_eq!(shop.plan(), "free");
    let customer = shop.customer();
    let bought = shop.stripe.subscribe(&customer, "price_pro");
    assert_eq!(shop.plan(), "free", "nobody has said anything yet");
    shop.hear(&mut library, "customer.subscription.created", &bought);
    assert_eq!(
        shop.subscription(),
        json!({
            "planId": "pro", "planName": "Pro", "isBillingOn": true, "status": "active",
            "currentPeriodEnd": "2026-02-01T00:00:00.000Z", "cancelAtPeriodEnd": false,
        })
    );
    // To buy a second one would be to pay twice.
    assert_eq!(told(&shop.check_out("team"), 409)["code"], "CONFLICT");

    let dearer = shop.stripe.set_price("sub_0", "price_team");
    shop.hear(&mut library, "customer.subscription.updated", &dearer);
    assert_eq!(shop.plan(), "team");

    let ending = shop.stripe.change("sub_0", |one| one["cancel_at_period_end"] = true.into());
    shop.hear(&mut library, "customer.subscription.updated", &ending);
    let shown = shop.subscription();
    assert_eq!((&shown["planId"], &shown["cancelAtPeriodEnd"]), (&json!("team"), &json!(true)));

    let over = shop.stripe.set_status("sub_0", "canceled");
    shop.hear(&mut library, "customer.subscription.deleted", &over);
    let shown = shop.subscription();
    assert_eq!((&shown["planId"], &shown["status"]), (&json!("free"), &json!("canceled")));

    // The account can read what happened, and that nobody in it did it.
    let lines = told(&shop.client.get("/v1/activities"), 200);
    let lines = lines["data"].as_array().unwrap();
    let changes: Vec<_> = lines
        .iter()
        .filter(|line| line["eventType"] == "plan_changed")
        .map(|line| {
            assert_eq!(line.get("userId"), None);
            let side = |name: &str| line["details"][name]["plan"].as_str().unwrap().to_owned();
            (side("before"), side("after"))
        })
        .collect();
    let expected = [("team", "free"), ("pro", "team"), ("free", "pro")];
    assert_eq!(changes, expected.map(|(before, after)| (before.to_owned(), after.to_owned())));
    assert_eq!(shop.stripe.complaints(), [""; 0]);
}

/// One that is delivered again is not worked on again.
#[test]
fn a_message_counts_once() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    let customer = shop.customer();
    let bought = shop.stripe.subscribe(&customer, "price_pro");
    let message = shop.message("customer.subscription.created", &bought);
    shop.stripe.requests();
    let first = told(&shop.deliver(&mut library, &message), 200);
    assert_eq!(first, json!({ "received": true, "duplicate": false }));
    assert_eq!(shop.stripe.requests().len(), 1);
    let again = told(&shop.deliver(&mut library, &message), 200);
    assert_eq!(again, json!({ "received": true, "duplicate": true }));
    assert_eq!(shop.stripe.requests().len(), 0);
    assert_eq!(shop.plan(), "pro");
}

/// One that could not be finished is not forgotten: Stripe sends it again, and then it counts.
#[test]
fn a_message_that_failed_may_come_again() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    let customer = shop.customer();
    let bought = shop.stripe.subscribe(&customer, "price_pro");
    let message = shop.message("customer.subscription.created", &bought);
    shop.stripe.fail_next(3);
    told(&shop.deliver(&mut library, &message), 503);
    assert_eq!(shop.plan(), "free");
    told(&shop.deliver(&mut library, &message), 200);
    assert_eq!(shop.plan(), "pro");
}

/// All of a life, as the messages told it at the time, in several orders and some of them twice:
/// what counts is what Stripe has now.
#[test]
fn the_order_of_messages_means_nothing() {
    let Some(mut library) = Library::start() else { return };
    for turns in 0..3 {
        let mut shop = Shop::open();
        let customer = shop.customer();
        let mut told_then: Vec<(&str, Value)> = Vec::new();
        let bought = shop.stripe.subscribe(&customer, "price_pro");
        told_then.push(("customer.subscription.created", bought));
        let late = shop.stripe.set_status("sub_0", "past_due");
        told_then.push(("customer.subscription.updated", late.clone()));
        told_then.push(("invoice.payment_failed", json!({ "id": "in_1", "customer": customer })));
        let over = shop.stripe.set_status("sub_0", "canceled");
        told_then.push(("customer.subscription.deleted", over));
        let again = shop.stripe.subscribe(&customer, "price_team");
        told_then.push(("customer.subscription.created", again));
        told_then.push(("invoice.paid", json!({ "id": "in_2", "customer": { "id": customer } })));
        match turns {
            0 => {}
            1 => told_then.reverse(),
            _ => told_then.rotate_left(3),
        }
        let messages: Vec<_> =
            told_then.iter().map(|(kind, object)| shop.message(kind, object)).collect();
        for message in messages.iter().chain(messages.iter().rev()) {
            told(&shop.deliver(&mut library, message), 200);
            assert_eq!(shop.plan(), "team", "turn {turns}: {message}");
        }
        // And when that is over too, no straggler brings anything back.
        shop.stripe.set_status("sub_1", "canceled");
        shop.hear(&mut library, "customer.subscription.updated", &late);
        assert_eq!(shop.plan(), "free");
    }
}

#[test]
fn what_stripe_did_not_sign_changes_nothing() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    let customer = shop.customer();
    let bought = shop.stripe.subscribe(&customer, "price_team");
    let message = shop.message("customer.subscription.created", &bought);
    let right = library.sign(&message, SECRET, now());
    let old = library.sign(&message, SECRET, now() - 301);
    let strange = library.sign(&message, "whsec_of_somebody_else", now());
    let other = message.replace("evt_1", "evt_2");
    for (body, header) in [
        (&message, old.as_str()),
        (&message, strange.as_str()),
        (&other, right.as_str()),
        (&message, ""),
        (&message, "t=1,v1=00"),
        (&message, &right.replace("v1=", "v0=")),
    ] {
        assert_eq!(told(&shop.send(body, header), 401)["code"], "UNAUTHORIZED", "{header}");
        assert_eq!(shop.plan(), "free");
    }
    // The library agrees about what is too old, and about what is right.
    assert!(library.verify(&message, &old, SECRET).is_err());
    assert_eq!(library.verify(&message, &right, SECRET).unwrap(), "evt_1");

    // While a secret is exchanged both count, and Stripe signs with both.
    let former = library.sign(&message, FORMER_SECRET, now());
    let (moment, _) = right.split_once(',').unwrap();
    let (_, signature) = former.split_once(',').unwrap();
    let both =
        format!("{},{signature}", strange.replace(strange.split(',').next().unwrap(), moment));
    let same_moment = former.starts_with(moment);
    let header = if same_moment { both } else { former };
    told(&shop.send(&message, &header), 200);
    assert_eq!(shop.plan(), "team");
}

/// Somebody else's customer, another product, a kind that nobody here needs.
#[test]
fn what_is_about_nobody_here_is_taken_and_left() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    let customer = shop.customer();
    let foreign = shop.stripe.subscribe("cus_elsewhere", "price_team");
    shop.hear(&mut library, "customer.subscription.created", &foreign);
    let unsold = shop.stripe.subscribe(&customer, "price_of_a_book");
    shop.hear(&mut library, "customer.subscription.created", &unsold);
    shop.hear(&mut library, "product.created", &json!({ "id": "prod_1" }));
    assert_eq!(shop.plan(), "free");
    let odd = r#"{"hello":"world"}"#;
    let header = library.sign(odd, SECRET, now());
    assert_eq!(shop.send(odd, &header).status, 400);
}

/// The next event is judged by the new plan, and so is the one after the operator has changed it.
#[test]
fn a_plan_holds_at_once() {
    let Some(mut library) = Library::start() else { return };
    let mut shop = Shop::open();
    plans(&shop.folder, &["set", "free", "--limit", "eventsPerMinute=1"]);
    let source = told(&shop.client.post("/v1/sources", json!({ "name": "a" })), 201);
    let address = format!("/in/{}", source["sourceId"].as_str().unwrap());
    let mut count = 0;
    let mut post = |shop: &Shop| {
        count += 1;
        shop.ferry.post(&address, format!("event {count}").as_bytes()).status
    };
    assert_eq!([post(&shop), post(&shop)], [200, 429]);
    let customer = shop.customer();
    let bought = shop.stripe.subscribe(&customer, "price_pro");
    shop.hear(&mut library, "customer.subscription.created", &bought);
    assert_eq!(post(&shop), 200, "the plan is larger");
    plans(&shop.folder, &["set", "pro", "--limit", "eventsPerMinute=1"]);
    assert_eq!(post(&shop), 429, "the operator has made it smaller");
    plans(&shop.folder, &["assign", "one@example.com", "self_hosted"]);
    assert_eq!(post(&shop), 200, "and given another");
    assert_eq!(shop.plan(), "self_hosted");
}
