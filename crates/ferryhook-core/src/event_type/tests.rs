use serde_json::json;

use super::*;
use crate::samples;

#[test]
fn the_first_and_the_last_time_are_kept() {
    let mut known = EventType::new(samples::account().id, "order.paid");
    known.count(0, samples::CREATED);
    assert_eq!((known.count, known.first_seen_at), (0, None));
    known.count(2, samples::CREATED);
    known.count(3, samples::UPDATED);
    known.count(1, samples::CREATED);
    assert_eq!(known.count, 6);
    assert_eq!(known.first_seen_at, Some(samples::CREATED));
    assert_eq!(known.last_seen_at, Some(samples::UPDATED));
}

#[test]
fn only_the_last_drifts_are_kept() {
    let mut known = EventType::new(samples::account().id, "order.paid");
    let event = samples::event().id;
    let learn = |known: &mut EventType, fields: usize| {
        let sample: crate::Map = (0..fields).map(|n| (format!("f{n:03}"), json!(n))).collect();
        known.learn(&sample.into(), event, samples::CREATED)
    };
    for fields in 0..60 {
        for _ in 0..=limits::TYPE_SETTLED_SAMPLES {
            learn(&mut known, fields);
        }
    }
    assert_eq!(known.drifts.len(), limits::TYPE_DRIFTS_KEPT);
    assert_eq!(known.drifts.last().unwrap().path, "/f058");
}

#[test]
fn what_can_be_a_name() {
    let longest = "a".repeat(limits::TYPE_NAME_BYTES_MAX);
    for name in ["order.paid", "orders/create", "Order Paid", "é", &longest] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "a\nb", &format!("{longest}a")] {
        assert!(!is_name(name), "{name}");
    }
}
