use proptest::prelude::*;

use super::super::head::append;
use super::*;
use crate::samples;

/// A log of this many lines from before the chain and this many in it, with its head.
fn log(before: usize, chained: usize) -> (Vec<Activity>, Option<AuditHead>) {
    let mut id = samples::activity().id;
    let mut next = || {
        id = id.following();
        Activity { id, number: None, previous_hash: None, hash: None, ..samples::activity() }
    };
    let mut lines: Vec<_> = (0..before).map(|_| next()).collect();
    let sealed = lines.iter().fold(Before::default(), |before, line| before.with(line));
    let mut head: Option<AuditHead> = None;
    for _ in 0..chained {
        let known = head.as_ref().ok_or(&sealed);
        let (line, now) = append(known, next(), samples::UPDATED);
        lines.push(line);
        head = Some(now);
    }
    (lines, head)
}

fn check(lines: &[Activity], head: Option<&AuditHead>) -> Report {
    let mut check = Check::new(head.cloned());
    lines.iter().for_each(|line| check.line(line));
    check.end(head)
}

/// The faults, as whoever asked reads them.
fn told(lines: &[Activity], head: Option<&AuditHead>) -> Vec<String> {
    let faults = check(lines, head).faults;
    faults.iter().map(|fault| format!("{:?}: {}", fault.kind, fault.message)).collect()
}

#[test]
fn what_was_written_is_clean() {
    for (before, chained) in [(0, 0), (3, 0), (0, 1), (0, 5), (4, 5)] {
        let (lines, head) = log(before, chained);
        let report = check(&lines, head.as_ref());
        assert_eq!(report.faults, []);
        assert_eq!((report.before, report.lines), (before as u64, chained as u64));
        assert_eq!(report.last_hash, head.map(|head| head.hash));
    }
}

#[test]
fn a_changed_line_is_told() {
    let (mut lines, head) = log(0, 4);
    lines[1].action = "delete".to_owned();
    assert_eq!(told(&lines, head.as_ref()), ["Changed: it does not say what was written"]);
    // Also one whose hash was made anew: the next line knows the old one.
    let link = Link { number: 2, previous: lines[1].previous_hash.as_deref() };
    lines[1].hash = Some(chain::hash(&lines[1], link));
    let said = "Changed: it was not written behind line 2 as that is now";
    assert_eq!(told(&lines, head.as_ref()), [said]);
    // And at the end the head does.
    let (mut lines, head) = log(0, 2);
    lines[1].action = "delete".to_owned();
    let link = Link { number: 2, previous: lines[1].previous_hash.as_deref() };
    lines[1].hash = Some(chain::hash(&lines[1], link));
    let said = "Changed: the head knows it with another hash";
    assert_eq!(told(&lines, head.as_ref()), [said]);
}

#[test]
fn a_removed_line_is_told_wherever_it_stood() {
    let (lines, head) = log(2, 6);
    let without = |places: &[usize]| {
        let kept = lines.iter().enumerate().filter(|(place, _)| !places.contains(place));
        kept.map(|(_, line)| line.clone()).collect::<Vec<_>>()
    };
    let cases: [(&[usize], &str); 6] = [
        (&[4], "Removed: line 3 is missing before it"),
        (&[4, 5], "Removed: lines 3 to 4 are missing before it"),
        (&[2], "Removed: line 1 is missing before it"),
        (&[7], "Removed: line 6, the last, is missing"),
        (&[5, 6, 7], "Removed: lines 4 to 6, the last, are missing"),
        (&[0], "BeforeChanged: 2 lines were there before the chain began, and now there are 1"),
    ];
    for (places, said) in cases {
        assert_eq!(told(&without(places), head.as_ref()), [said]);
    }
    assert_eq!(told(&lines, None), ["Head: the head of the log is missing"]);
}

#[test]
fn a_line_that_was_put_in_is_told() {
    let (lines, head) = log(0, 4);
    let foreign = Activity { number: None, hash: None, previous_hash: None, ..lines[1].clone() };
    let mut with = lines.clone();
    with.insert(2, foreign);
    assert_eq!(told(&with, head.as_ref()), ["Inserted: it is not part of the chain"]);
    // One that is forged as well as can be takes another's place.
    let (forged, _) = append(Ok(&at(&lines, 2)), lines[1].clone(), samples::UPDATED);
    let mut with = lines.clone();
    with.insert(2, forged);
    assert!(told(&with, head.as_ref()).contains(&"Moved: it stands behind line 3".to_owned()));
    // Or comes behind the last, which the head does not know.
    let known = head.clone().unwrap();
    let (forged, _) = append(Ok(&known), lines[3].clone(), samples::UPDATED);
    let mut with = lines;
    with.push(forged);
    let said = "Inserted: the log has 5 lines, its head knows of 4";
    assert_eq!(told(&with, head.as_ref()), [said]);
}

/// The head as it was after this many lines.
fn at(lines: &[Activity], count: usize) -> AuditHead {
    let line = &lines[count - 1];
    AuditHead {
        lines: count as u64,
        hash: line.hash.clone().unwrap(),
        last_id: line.id,
        ..samples::audit_head()
    }
}

#[test]
fn lines_that_changed_places_are_told() {
    let (mut lines, head) = log(0, 5);
    lines.swap(1, 2);
    let said = ["Removed: line 2 is missing before it", "Moved: it stands behind line 3"];
    assert_eq!(told(&lines, head.as_ref()), said);
}

/// The log goes on while it is read.
#[test]
fn what_is_written_meanwhile_is_no_fault() {
    let (lines, head) = log(0, 5);
    let mut check = Check::new(Some(at(&lines, 3)));
    lines.iter().for_each(|line| check.line(line));
    assert_eq!(check.end(head.as_ref()).faults, []);
    // Still less what came behind the last line that was read.
    let mut check = Check::new(Some(at(&lines, 3)));
    lines[..4].iter().for_each(|line| check.line(line));
    assert_eq!(check.end(head.as_ref()).faults, []);
}

/// In two halves, of which the second knows only the line where the first has stopped.
#[test]
fn a_check_goes_on_behind_a_line() {
    let (mut lines, head) = log(2, 6);
    let second = |lines: &[Activity]| {
        let mut check = Check::behind(&lines[3], head.clone());
        lines[4..].iter().for_each(|line| check.line(line));
        check.end(head.as_ref())
    };
    assert_eq!((second(&lines).lines, second(&lines).faults.len()), (4, 0));
    lines[5].action = "delete".to_owned();
    assert_eq!(second(&lines).faults.len(), 1);
}

#[test]
fn no_more_faults_are_told_than_anybody_reads() {
    let (mut lines, head) = log(0, 2 * limits::AUDIT_FAULTS_TOLD);
    lines.iter_mut().for_each(|line| line.action = "delete".to_owned());
    let report = check(&lines, head.as_ref());
    assert_eq!(report.faults.len(), limits::AUDIT_FAULTS_TOLD);
    assert!(report.more_faults);
}

/// Ids rise with the numbers, whatever the clocks said.
#[test]
fn a_line_never_stands_before_the_last() {
    let (_, head) = log(0, 3);
    let head = head.unwrap();
    let earlier = samples::activity();
    assert!(earlier.id < head.last_id);
    let (line, now) = append(Ok(&head), earlier, samples::UPDATED);
    assert!(line.id > head.last_id);
    assert_eq!((now.last_id, now.lines), (line.id, 4));
}

proptest! {
    /// Whatever single row is taken, doubled, moved or changed: it is found.
    #[test]
    fn nothing_is_done_unseen(
        chained in 2..12usize,
        before in 0..3usize,
        place in 0..100usize,
        to in 0..100usize,
        what in 0..4u8,
    ) {
        let (mut lines, head) = log(before, chained);
        let place = place % lines.len();
        match what {
            0 => { lines.remove(place); }
            1 => lines[place].user_agent = Some("another".to_owned()),
            2 => { let copy = lines[place].clone(); lines.insert(place, copy); }
            _ => {
                let to = to % lines.len();
                prop_assume!(to != place);
                let line = lines.remove(place);
                lines.insert(to, line);
            }
        }
        prop_assert!(!check(&lines, head.as_ref()).is_clean());
    }
}
