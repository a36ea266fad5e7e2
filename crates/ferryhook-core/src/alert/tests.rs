use std::time::Duration;

use serde_json::json;

use super::Outcome::*;
use super::*;
use crate::{Map, samples};

/// Outcomes by the minute, and what is done about each; the record follows.
fn story(settings: &Settings, outcomes: &[(u64, Outcome)]) -> Vec<Step> {
    let (mut watch, mut alert): (Watch, Option<Alert>) = (Watch::default(), None);
    let step = |(minute, outcome): &(u64, Outcome)| {
        let now = samples::CREATED + Duration::from_secs(60 * minute);
        let step = watch.note(*outcome, alert.as_ref(), settings, now);
        alert = match (&step, alert.take()) {
            (Step::Fire(_), None) => Some(Alert::fired(samples::account().id, "c", "Orders", now)),
            (Step::Fire(_), Some(was)) => Some(was.again(now)),
            (Step::Recover, Some(was)) => Some(was.recovered(now)),
            (_, was) => was,
        };
        step
    };
    outcomes.iter().map(step).collect()
}

fn settings(value: serde_json::Value) -> Settings {
    let map: Map = [("alerts".to_owned(), value)].into_iter().collect();
    Settings::read(Some(&map)).unwrap()
}

#[test]
fn one_that_is_given_up_fires_once_and_the_first_success_ends_it() {
    let usual = Settings::default();
    let told = story(&usual, &[(0, Failed), (1, Dead), (2, Dead), (9, Delivered), (10, Delivered)]);
    let fire = Step::Fire(Reason::Dead(1));
    assert_eq!(told, [Step::Nothing, fire, Step::Nothing, Step::Recover, Step::Nothing]);
}

#[test]
fn failures_in_a_row_fire() {
    let three = settings(json!({ "failedAttempts": 3, "deadDeliveries": 100 }));
    let told = story(&three, &[(0, Failed), (1, Failed), (2, Delivered), (3, Failed), (4, Failed)]);
    assert_eq!(told, [Step::Nothing; 5]);
    let told = story(&three, &[(0, Failed), (1, Failed), (2, Failed), (3, Failed)]);
    assert_eq!(told[2..], [Step::Fire(Reason::Failed(3)), Step::Nothing]);
}

#[test]
fn only_what_lies_within_the_window_counts() {
    let two = settings(json!({ "deadDeliveries": 2, "windowMinutes": 10 }));
    assert_eq!(story(&two, &[(0, Dead), (11, Dead)]), [Step::Nothing; 2]);
    assert_eq!(story(&two, &[(0, Dead), (10, Dead)])[1], Step::Fire(Reason::Dead(2)));
    // One success among them does not make up for what is lost.
    let told = story(&two, &[(0, Dead), (5, Delivered), (10, Dead)]);
    assert_eq!(told[2], Step::Fire(Reason::Dead(2)));
}

/// A destination that fails every other time would else have its people told each time.
#[test]
fn what_comes_and_goes_is_told_now_and_then() {
    let usual = Settings::default();
    let outcomes: Vec<_> =
        (0..20).map(|n| (n, if n % 2 == 0 { Dead } else { Delivered })).collect();
    let told = story(&usual, &outcomes);
    let fired = told.iter().filter(|step| matches!(step, Step::Fire(_))).count();
    let over = told.iter().filter(|step| **step == Step::Recover).count();
    assert_eq!((fired, over), (4, 4), "{told:?}");
}

#[test]
fn settings_are_read_and_bounded() {
    assert_eq!(settings(json!({})), Settings::default());
    let all = json!({ "deadDeliveries": 5, "failedAttempts": 7, "windowMinutes": 30, "mail": true,
                      "digest": "hourly" });
    let read = settings(all);
    assert_eq!((read.dead_deliveries, read.failed_attempts, read.mail), (5, 7, true));
    assert_eq!((read.window, read.digest), (Duration::from_secs(1800), Digest::Hourly));
    for (bad, pointer) in [
        (json!({ "deadDeliveries": 0 }), "/alerts/deadDeliveries"),
        (json!({ "failedAttempts": 10_001 }), "/alerts/failedAttempts"),
        (json!({ "windowMinutes": 0 }), "/alerts/windowMinutes"),
        (json!({ "digest": "weekly" }), "/alerts"),
        (json!({ "colour": "red" }), "/alerts"),
        (json!(7), "/alerts"),
    ] {
        let map: Map = [("alerts".to_owned(), bad)].into_iter().collect();
        assert_eq!(Settings::read(Some(&map)).unwrap_err().pointer, pointer);
        assert_eq!(Settings::of(Some(&map)), Settings::default());
    }
}
