//! `ferryhook plans`, with a server and without.

use serde_json::json;
use tempfile::TempDir;

use super::shop::{plans, sign_up};
use crate::ferry::{Ferry, run, show};

fn said(folder: &TempDir, arguments: &[&str]) -> String {
    show(&run(folder, &[&["plans"], arguments].concat(), &[]))
}

#[test]
fn plans_are_looked_after_on_the_data_itself() {
    let folder = tempfile::tempdir().unwrap();
    assert!(said(&folder, &["list"]).starts_with("exit 1\n"), "there is no data yet");
    Ferry::start_in(&folder, &[]).stop();
    insta::assert_snapshot!(said(&folder, &["list"]), @r"
    exit 0
    PLAN         NAME         PRICE       EVENTS/MONTH  EVENTS/MIN  DAYS KEPT  STRIPE PRICE
    free         Free         0.00 USD    5000          100         1          -
    pro          Pro          49.00 USD   1000000       2000        30         -
    self_hosted  Self-hosted  0.00 USD    -             -           -          -             default
    starter      Starter      19.00 USD   100000        500         7          -
    team         Team         199.00 USD  5000000       10000       90         -
    ");
    let made = plans(
        &folder,
        &[
            "create",
            "gold",
            "--name",
            "Gold",
            "--price",
            "9900",
            "--currency",
            "eur",
            "--type",
            "professional",
            "--limit",
            "eventsPerMonth=1000",
            "--limit",
            "sources=5",
            "--feature",
            "a",
            "--feature",
            "b",
            "--stripe-price",
            "price_gold",
            "--over-quota",
            "402",
        ],
    );
    assert_eq!(made["limits"], json!({ "eventsPerMonth": 1000, "sources": 5 }));
    insta::assert_snapshot!(said(&folder, &["get", "gold"]), @r"
    exit 0
    plan               gold
    name               Gold
    type               professional
    price              99.00 EUR
    stripe price       price_gold
    on offer           yes
    default            no
    eventsPerMonth     1000
    sources            5
    feature            a
    feature            b
    ");
    let set =
        ["set", "gold", "--limit", "sources=none", "--stripe-price", "price_new", "--default"];
    let set = plans(&folder, &set);
    assert_eq!(set["limits"], json!({ "eventsPerMonth": 1000 }));
    assert_eq!(
        set["metadata"],
        json!({ "overQuota": 402, "stripePriceId": "price_new",
                "formerStripePriceIds": ["price_gold"] })
    );
    let all = plans(&folder, &["list"]);
    let defaults: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|plan| plan["isDefault"] == true)
        .map(|plan| &plan["planId"])
        .collect();
    assert_eq!(defaults, ["gold"]);
    assert_eq!(plans(&folder, &["retire", "starter"])["isActive"], false);
    let complaints = [
        said(&folder, &["create", "gold"]),
        said(&folder, &["create", "Bad Id"]),
        said(&folder, &["get", "silver"]),
        said(&folder, &["set", "silver", "--price", "1"]),
        said(&folder, &["set", "pro", "--limit", "eventsPerMonth=many"]),
        said(&folder, &["set", "pro", "--stripe-price", "price_gold"]),
        said(&folder, &["retire", "gold"]),
        said(&folder, &["assign", "nobody@example.com", "pro"]),
        said(&folder, &["assign", "acc_0000000000000000", "pro"]),
        said(&folder, &["assign", "nobody", "pro"]),
    ];
    insta::assert_snapshot!(complaints.join(""), @r#"
    exit 1
    ferryhook: there is a plan "gold" already; see plans set
    exit 1
    ferryhook: the id of a plan has 1 to 64 of a-z, 0-9, _ and -, not "Bad Id"
    exit 4
    ferryhook: there is no plan "silver"
    exit 4
    ferryhook: there is no plan "silver"
    exit 1
    ferryhook: eventsPerMonth must be a whole number within bounds, or none, not "many"
    exit 1
    ferryhook: price_gold is, or was, the price of the plan "gold"
    exit 1
    ferryhook: the default plan is what new accounts get: make another the default first
    exit 4
    ferryhook: nobody here has the address "nobody@example.com"
    exit 4
    ferryhook: there is no account acc_0000000000000000
    exit 4
    ferryhook: nobody here has the address "nobody"
    "#);
}

/// New accounts get the default, and an account can be given another by its id.
#[test]
fn who_signs_up_gets_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = Ferry::start_in(&folder, &[("FERRYHOOK_SIGNUP", "open")]);
    plans(&folder, &["set", "starter", "--default"]);
    let (client, account) = sign_up(&ferry, "one@example.com");
    let plan = || client.get("/v1/billing/subscription").json()["planId"].clone();
    assert_eq!(plan(), "starter");
    assert_eq!(
        said(&folder, &["assign", &account, "team"]),
        "exit 0\none@example.com has team now, and had starter\n"
    );
    assert_eq!(plan(), "team");
    let again = plans(&folder, &["assign", "ONE@example.com", "team"]);
    assert_eq!((&again["before"], &again["after"]), (&json!("team"), &json!("team")));
}
