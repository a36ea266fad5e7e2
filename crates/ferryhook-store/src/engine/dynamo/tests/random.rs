//! The same random steps on this engine and on the reference: nobody may tell them apart.

use super::*;
use crate::engine::memory::Memory;

const STEPS: usize = 300;

struct Dice(Env);

impl Dice {
    fn roll(&self, sides: i64) -> i64 {
        (self.0.fraction() * sides as f64) as i64
    }
}

/// What was last written under each key, so that replacing has something to start from.
type Known<K> = std::collections::BTreeMap<Key, Stored<Thing<K>>>;

#[tokio::test]
async fn nobody_can_tell_it_from_the_reference() {
    let Some(config) = tables().await else { return };
    let (env, clock) = env();
    let dice = Dice(Env::fixed("2100-01-01T00:00:00Z"));
    let memory = Memory::new(env.clone());
    let dynamo = Dynamo::open(config, env).await.unwrap();
    let mut deliveries = Known::<Delivery>::new();
    let mut schedules = Known::<Schedule>::new();
    for step in 0..STEPS {
        if dice.roll(6) == 0 {
            clock.advance(Duration::from_secs(dice.roll(20) as u64));
        }
        let (twice, mut after) = (dice.roll(3), Vec::new());
        let mut batches = [Batch::new(), Batch::new()];
        let mut new = (Vec::new(), Vec::new());
        for _ in 0..=twice {
            match dice.roll(2) {
                0 => new.0.extend(act(&dice, some_delivery(&dice), &deliveries, &mut batches)),
                _ => new.1.extend(act(&dice, some_schedule(&dice), &schedules, &mut batches)),
            }
        }
        for (engine, batch) in [&memory as &dyn Engine, &dynamo].into_iter().zip(batches) {
            after.push(match commit(engine, batch).await {
                Ok(()) => "done".to_owned(),
                Err(StoreError::Refused { action, .. }) => format!("refused {action}"),
                Err(StoreError::Malformed(_)) => "malformed".to_owned(),
                Err(other) => panic!("step {step}: {other}"),
            });
        }
        assert_eq!(after[0], after[1], "step {step}");
        compare(&memory, &dynamo, step).await;
        if after[0] == "done" {
            learn(&memory, &mut deliveries, new.0).await;
            learn(&memory, &mut schedules, new.1).await;
        }
    }
}

fn some_delivery(dice: &Dice) -> Thing<Delivery> {
    let due = NOW + dice.roll(1000);
    let attributes = match dice.roll(3) {
        0 => json!({"n": dice.roll(9)}),
        1 => json!({"n": "text", "dueAt": due}),
        _ => json!({"status": "open", "dueAt": due}),
    };
    let thing = delivery("r", &dice.roll(6).to_string(), attributes);
    let thing = match dice.roll(2) {
        0 => thing.at(IndexKey::new(Index::Due, "r", due)),
        _ => thing,
    };
    match dice.roll(3) {
        0 => thing,
        _ => thing.until(NOW + dice.roll(900)),
    }
}

fn some_schedule(dice: &Dice) -> Thing<Schedule> {
    let number = dice.roll(4);
    let key = Key::new(Table::Schedules, "src_r", format!("sch_{number}"));
    let next = 60 * dice.roll(2);
    // A record either has the attribute or leaves it to the index: one that gives it up and keeps
    // its entry would say nothing of a move.
    let own = number != 0;
    let thing = Thing::new(
        key,
        match own {
            true => json!({"n": dice.roll(9), "nextRunAt": next}),
            false => json!({"n": dice.roll(9)}),
        },
    );
    match dice.roll(2) {
        0 => thing.at(IndexKey::alone(Index::ScheduleNextRun, next)),
        _ => thing,
    }
}

/// Adds the same action to both batches; gives back what it would write.
fn act<K: OfKind>(
    dice: &Dice,
    thing: Thing<K>,
    known: &Known<K>,
    batches: &mut [Batch; 2],
) -> Option<Thing<K>> {
    let (what, amount) = (dice.roll(7), dice.roll(5));
    let key = &thing.key;
    let mut written = false;
    for batch in batches {
        if batch.actions().iter().any(|action| action.key() == key) {
            continue;
        }
        let building = std::mem::take(batch);
        written = false;
        *batch = match (what, known.get(key)) {
            (0, _) => building.require(key.clone(), Condition::Exists),
            (1, _) => building.patch(Patch::of(K::KIND, key.clone()).add("n", amount)),
            (2, Some(was)) => building.delete(was),
            (3..=5, Some(was)) => {
                written = true;
                building.replace(was, &thing)
            }
            _ => {
                written = true;
                building.insert(&thing)
            }
        };
    }
    written.then_some(thing)
}

/// Where a row stands in indexes is known from what was written, the rest is read back.
async fn learn<K: OfKind>(memory: &Memory, known: &mut Known<K>, written: Vec<Thing<K>>) {
    for thing in written {
        known.insert(thing.key.clone(), thing.stored(0));
    }
    for (key, stored) in known {
        if let Some((revision, Json::Object(attributes))) = get(memory, key).await {
            stored.revision = revision;
            stored.record.attributes = attributes;
        }
    }
}

async fn compare(memory: &Memory, dynamo: &Dynamo, step: usize) {
    let queries = || {
        [
            Query::table(Kind::Delivery, "EVT#r"),
            Query::table(Kind::Schedule, "src_r"),
            Query::index(Kind::Delivery, Index::Due, "r"),
            Query::index(Kind::Schedule, Index::ScheduleNextRun, 0),
            Query::index(Kind::Schedule, Index::ScheduleNextRun, 60),
        ]
    };
    for (expected, found) in queries().into_iter().zip(queries()) {
        let name = format!("step {step}: {expected:?}");
        let expected = rows(memory, expected).await;
        let found = rows(dynamo, found).await;
        assert_eq!(expected, found, "{name}");
    }
}

/// Sorted, because equal entries of an index have no order of their own.
async fn rows(engine: &dyn Engine, query: Query) -> Vec<String> {
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let page = engine.query(query.clone().limit(2).after(after)).await.unwrap();
        rows.extend(page.rows.into_iter().map(|row| {
            let (version, revision) = (row.version, row.revision);
            format!("{version} {revision} {}", sorted(&json_of(row)))
        }));
        after = page.next;
        if after.is_none() {
            rows.sort_unstable();
            return rows;
        }
    }
}

fn sorted(json: &Json) -> String {
    let mut attributes: Vec<_> =
        json.as_object().unwrap().iter().map(|(k, v)| format!("{k}={v}")).collect();
    attributes.sort_unstable();
    attributes.join(" ")
}
