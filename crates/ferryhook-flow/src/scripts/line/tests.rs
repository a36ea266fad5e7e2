use super::super::limits::{QUICK, QUICK_RUNS, QUICK_RUNS_MAX, SLOW};
use super::*;

const ROOM: Room = Room { quick: 1, others: 2 };

fn connection(number: usize) -> Id<Connection> {
    format!("conn_{number:016}").parse().unwrap()
}

/// One run from its beginning to its end.
fn run(line: &mut Line<u32>, connection: Id<Connection>, on: For, took: Duration) {
    assert!(line.enter(connection, 0));
    let (turn, _) = line.next(on, ROOM).unwrap();
    assert_eq!(turn.connection, connection);
    line.finish(&turn, Some(took));
}

fn prove(line: &mut Line<u32>, connection: Id<Connection>) {
    while !line.is_quick(connection) {
        run(line, connection, For::Others, Duration::ZERO);
    }
}

#[test]
fn quick_ones_wait_in_a_line_of_their_own() {
    let mut line = Line::new();
    prove(&mut line, connection(1));
    for job in 0..100 {
        assert!(line.enter(connection(0), job));
    }
    assert!(line.enter(connection(1), 1000));
    let (turn, job) = line.next(For::Quick, ROOM).unwrap();
    assert_eq!((turn.connection, job), (connection(1), 1000));
    assert!(line.next(For::Quick, ROOM).is_none(), "the others are not for this thread");
    let (turn, job) = line.next(For::Others, ROOM).unwrap();
    assert_eq!((turn.connection, job), (connection(0), 0));
    assert!(line.next(For::Others, ROOM).is_none(), "one connection leaves a thread free");
}

#[test]
fn the_others_help_when_many_quick_ones_wait_and_leave_one_free() {
    let mut line = Line::new();
    prove(&mut line, connection(1));
    prove(&mut line, connection(2));
    for job in 1..HELPED_FROM {
        assert!(line.enter(connection(1 + job % 2), 0));
    }
    assert!(line.next(For::Others, ROOM).is_none(), "their own thread is enough");
    assert!(line.enter(connection(1), 0));
    assert!(line.next(For::Others, ROOM).is_some());
    for _ in 0..HELPED_FROM {
        assert!(line.enter(connection(2), 0));
    }
    assert!(line.next(For::Others, ROOM).is_none(), "one is free for those that nobody knows");
    assert!(line.enter(connection(3), 7));
    assert_eq!(line.next(For::Others, ROOM).unwrap().1, 7);
    // Where none of their own is left, any will do.
    let none = Room { quick: 0, others: 2 };
    assert!(line.next(For::Others, none).is_some());
}

#[test]
fn one_that_overstays_changes_the_line_with_all_that_waits() {
    let mut line = Line::new();
    prove(&mut line, connection(1));
    for job in 0..3 {
        assert!(line.enter(connection(1), job));
    }
    let (turn, job) = line.next(For::Quick, ROOM).unwrap();
    line.put_back(&turn, job);
    assert!(!line.is_quick(connection(1)));
    assert!(line.next(For::Quick, ROOM).is_none());
    let mut order = Vec::new();
    while let Some((turn, job)) = line.next(For::Others, ROOM) {
        order.push(job);
        line.finish(&turn, None);
    }
    assert_eq!(order, [0, 1, 2]);
    assert!(line.lanes.is_empty());
    assert_eq!((line.waiting, line.quick_waiting, line.others_running), (0, 0, 0));
}

/// Its jobs that wait go along when it becomes quick, too.
#[test]
fn one_that_proves_quick_changes_the_line() {
    let mut line = Line::new();
    for job in 0..=u32::from(QUICK_RUNS) {
        assert!(line.enter(connection(1), job));
    }
    for _ in 0..QUICK_RUNS {
        let (turn, _) = line.next(For::Others, ROOM).unwrap();
        line.finish(&turn, Some(Duration::ZERO));
    }
    assert!(line.next(For::Others, ROOM).is_none());
    assert_eq!(line.next(For::Quick, ROOM).unwrap().1, u32::from(QUICK_RUNS));
}

#[test]
fn whoever_was_slow_after_all_has_to_be_quick_for_longer() {
    let mut line = Line::new();
    let needed = |line: &mut Line<u32>| {
        let mut runs = 0;
        while !line.is_quick(connection(1)) {
            run(line, connection(1), For::Others, QUICK / 2);
            runs += 1;
        }
        runs
    };
    let mut expected = QUICK_RUNS;
    for _ in 0..16 {
        assert_eq!(needed(&mut line), expected);
        run(&mut line, connection(1), For::Quick, SLOW * 2);
        expected = (expected * 2).min(QUICK_RUNS_MAX);
    }
    // What is neither says nothing; what is slow begins anew, and costs no more than that.
    run(&mut line, connection(2), For::Others, SLOW * 2);
    for _ in 1..QUICK_RUNS {
        run(&mut line, connection(2), For::Others, QUICK / 2);
        run(&mut line, connection(2), For::Others, SLOW);
    }
    assert!(!line.is_quick(connection(2)));
    run(&mut line, connection(2), For::Others, QUICK / 2);
    assert!(line.is_quick(connection(2)));
}

#[test]
fn all_are_sent_away_or_only_those_that_are_not_quick() {
    let mut line = Line::new();
    prove(&mut line, connection(1));
    for job in [1, 2] {
        assert!(line.enter(connection(1), job) && line.enter(connection(2), 10 * job));
    }
    assert_eq!(line.clear_others(), [10, 20]);
    assert_eq!(line.clear(), [1, 2]);
    assert!(line.next(For::Quick, ROOM).is_none() && line.next(For::Others, ROOM).is_none());
    assert_eq!((line.waiting, line.quick_waiting), (0, 0));
}
