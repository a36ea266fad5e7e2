use super::*;

fn names() -> Names {
    Names { prefix: "ferryhook-".into(), ledger: "QuillIdempotencyLedger".into() }
}

/// The table as declared.
fn complete(table: Table) -> Found {
    let shape = table.shape();
    Found {
        keys: Keys::of(shape.partition, shape.sort),
        indexes: table
            .indexes()
            .map(|index| {
                let shape = index.shape();
                (shape.name.into(), Keys::of(shape.partition, shape.sort))
            })
            .collect(),
        on_demand: shape.capacity == Capacity::OnDemand,
        expiry: shape.expiry.map(str::to_owned),
        stream: match shape.stream {
            true => Stream::NewImages,
            false => Stream::Off,
        },
        point_in_time_recovery: Switch::On,
        encryption: Switch::On,
    }
}

fn plan(table: Table, found: Option<&Found>) -> String {
    Plan::of(&names(), [(table, found)]).to_string()
}

#[test]
fn nothing_is_planned_for_what_is_complete() {
    let found = Table::ALL.map(|table| (table, complete(table)));
    let found = found.iter().map(|(table, found)| (*table, Some(found)));
    let plan = Plan::of(&names(), found);
    assert!(plan.is_empty(), "{plan}");
    assert_eq!(plan.to_string(), "every table is as declared\n");
}

#[test]
fn a_missing_table_is_created_and_switched_on() {
    assert_eq!(
        plan(Table::Events, None),
        "ferryhook-events: create, on demand, indexes: 6\n\
         ferryhook-events: expire rows by expiresAt\n\
         ferryhook-events: switch on point-in-time recovery\n"
    );
    assert_eq!(
        plan(Table::Ledger, None),
        "QuillIdempotencyLedger: create, on demand, indexes: 0\n\
         QuillIdempotencyLedger: expire rows by expiresAt\n"
    );
    assert_eq!(
        plan(Table::Usage, None),
        "ferryhook-usage_metrics: create, provisioned for 10 reads and 20 writes, indexes: 1\n"
    );
}

#[test]
fn what_a_table_lacks_is_added() {
    let bare = Found {
        indexes: Vec::new(),
        on_demand: true,
        expiry: None,
        stream: Stream::Off,
        point_in_time_recovery: Switch::Off,
        encryption: Switch::Off,
        ..complete(Table::Events)
    };
    assert_eq!(
        plan(Table::Events, Some(&bare)),
        "ferryhook-events: add the index GSI1\n\
         ferryhook-events: add the index InboxIndex\n\
         ferryhook-events: add the index EventTypeIndex\n\
         ferryhook-events: add the index StatusIndex\n\
         ferryhook-events: add the index PendingIndex\n\
         ferryhook-events: add the index DueIndex\n\
         ferryhook-events: start a stream of new images\n\
         ferryhook-events: encrypt with the AWS managed key\n\
         ferryhook-events: expire rows by expiresAt\n\
         ferryhook-events: switch on point-in-time recovery\n"
    );
    let on_demand = Found { on_demand: true, ..complete(Table::Plans) };
    assert_eq!(
        plan(Table::Plans, Some(&on_demand)),
        "ferryhook-billing_plans: set provisioned for 5 reads and 1 writes\n"
    );
}

#[test]
fn what_cannot_be_changed_is_a_problem_and_what_is_unknown_a_note() {
    let other = Found {
        expiry: Some("ttl".into()),
        stream: Stream::OtherImages,
        encryption: Switch::Unknown,
        point_in_time_recovery: Switch::Unknown,
        ..complete(Table::Events)
    };
    assert_eq!(
        plan(Table::Events, Some(&other)),
        "problem: ferryhook-events: its stream has no new images; switch it off to have it made \
         anew\n\
         problem: ferryhook-events: expires by ttl; switch that off to have it expire by \
         expiresAt\n\
         note: ferryhook-events: this server knows no encryption at rest\n\
         note: ferryhook-events: this server knows no point-in-time recovery\n"
    );
    let found = complete(Table::Main);
    assert_eq!(
        plan(Table::Events, Some(&Found { keys: complete(Table::Ledger).keys, ..found })),
        "problem: ferryhook-events: has other keys; a table with the declared ones is needed\n"
    );
}

/// Set `FERRYHOOK_WRITE_SNAPSHOTS` to write the file anew.
#[test]
fn the_terraform_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema/terraform.tf.json");
    let document = terraform(&names());
    if std::env::var_os("FERRYHOOK_WRITE_SNAPSHOTS").is_some() {
        std::fs::write(path, &document).unwrap();
    }
    assert_eq!(document, std::fs::read_to_string(path).unwrap());
}
