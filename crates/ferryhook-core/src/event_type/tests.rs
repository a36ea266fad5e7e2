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
        known.learn(&sample.into(), samples::source().id, event, samples::CREATED)
    };
    for fields in 0..60 {
        for _ in 0..=limits::TYPE_SETTLED_SAMPLES {
            learn(&mut known, fields);
        }
    }
    assert_eq!(known.drifts.len(), limits::TYPE_DRIFTS_KEPT);
    assert_eq!(known.drifts.last().unwrap().path, "/f058");
}

/// One name, two meanings: whichever comes next, and however many of it, nothing has changed.
#[test]
fn what_several_sources_call_the_same_does_not_drift() {
    let event = samples::event().id;
    let (one, other) = (samples::source().id, "src_0000000000000002".parse().unwrap());
    let (shop, forge) = (json!({"id": 1, "total": 5}), json!({"id": "x", "branch": {"name": "y"}}));
    let settled = limits::TYPE_SETTLED_SAMPLES;
    for runs in [[1, 1], [50, 1], [settled, settled], [200, 25], [200, 200]] {
        let mut known = EventType::new(samples::account().id, "created");
        let mut learn = |sample, from| known.learn(sample, from, event, samples::CREATED);
        for _ in 0..10 {
            for _ in 0..runs[0] {
                assert_eq!(learn(&shop, one), [], "{runs:?}");
            }
            for _ in 0..runs[1] {
                assert_eq!(learn(&forge, other), [], "{runs:?}");
            }
        }
        // One that stays alone is compared again.
        for _ in 0..settled {
            assert_eq!(learn(&shop, one), []);
        }
        let drifts = learn(&json!({"id": 1, "total": 5, "tax": 1}), one);
        let paths: Vec<_> = drifts.iter().map(|drift| drift.path.as_str()).collect();
        assert_eq!(paths, ["/tax"], "{runs:?}");
    }
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
