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
    insta::assert_snapshot!(said(&folder, &["list"]), @"");
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
    insta::assert_snapshot!(said(&folder, &["get", "gold"]), @"");
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
    insta::assert_snapshot!(complaints.join(""), @"");
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
