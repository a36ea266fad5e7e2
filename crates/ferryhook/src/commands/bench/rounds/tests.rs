use super::*;
use crate::commands::bench::load::Answered;

const SECOND: Duration = Duration::from_secs(1);

/// So many events in one second, with a CPU second and a byte for each event.
fn round(events: u32) -> Round {
    let answered = |number| Answered { number, sent_at: SECOND, answered_at: SECOND * 2 };
    let used = |cpu: Duration, bytes: u32| {
        Some(Usage { cpu, written_bytes: bytes.into(), peak_memory_bytes: bytes.into() })
    };
    let spent = Spent { before: used(SECOND, 7), after: used(SECOND * (events + 1), events + 7) };
    Round {
        sent: Sent {
            began: SECOND,
            ended: SECOND * 2,
            answered: (0..events).map(answered).collect(),
            ..Sent::default()
        },
        received: None,
        server: spent,
        own: spent,
    }
}

#[test]
fn a_rate_is_the_median_and_a_cost_the_mean() {
    let figures = gather(&[round(10), round(1000), round(30)]);
    assert_eq!(figures.events, 1040);
    assert_eq!(figures.rounds, [10.0, 1000.0, 30.0]);
    assert_eq!(figures.events_per_second, 30.0);
    assert_eq!(figures.cpu_micros_per_event, Some(1e6));
    assert_eq!(figures.written_bytes_per_event, Some(1.0));
    assert_eq!(figures.peak_memory_bytes, Some(1007));
    assert_eq!(figures.ack_ms.p99, 1000.0);
}

#[test]
fn what_arrives_late_makes_a_rate_slower() {
    let mut late = round(10);
    let at = (0..10).map(|_| Some(SECOND * 3)).collect();
    late.received = Some(Received { last_at: SECOND * 3, at, repeats: 2, strange: 0 });
    let figures = gather(&[late]);
    assert_eq!((figures.events_per_second, figures.repeated, figures.lost), (5.0, 2, 0));
}

#[test]
fn a_figure_that_is_not_known_is_not_made_up() {
    let mut blind = round(10);
    blind.server.before = None;
    let figures = gather(&[round(10), blind]);
    assert_eq!((figures.cpu_micros_per_event, figures.written_bytes_per_event), (None, None));
}
