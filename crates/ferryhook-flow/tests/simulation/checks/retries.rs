//! Retries: as often as the policy says, never sooner, and never again what has arrived.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::story::{Attempt, Outcome, Replay, Told};
use crate::world::World;

pub(crate) fn check(world: &World) {
    let broken = {
        let told = world.story.told();
        let mut deliveries: BTreeMap<_, Vec<&Attempt>> = BTreeMap::new();
        for attempt in &told.attempts {
            deliveries.entry((attempt.event, attempt.connection)).or_default().push(attempt);
        }
        let mut broken = Vec::new();
        for ((_, way), attempts) in deliveries {
            let schedule = &world.cast.ways[way].schedule;
            broken.extend(first(&told, attempts[0], schedule[0]));
            let pairs = attempts.windows(2).map(|pair| (pair[0], pair[1]));
            broken.extend(pairs.filter_map(|(one, next)| follows(&told, one, next, schedule)));
        }
        broken
    };
    for broken in broken {
        world.story.violate(format_args!("{broken}"));
    }
}

fn first(told: &Told, attempt: &Attempt, wait: u64) -> Option<String> {
    let asked = told.letters.get(attempt.letter)?.requests.first()?.asked;
    let early = attempt.sent.at < asked.at + Duration::from_secs(wait);
    early.then(|| format!("the first attempt in line {} is early", attempt.sent.line))
}

/// What is wrong with one attempt after another, if anything is.
fn follows(told: &Told, one: &Attempt, next: &Attempt, schedule: &[u64]) -> Option<String> {
    let (from, to) = (one.sent.line, next.sent.line);
    let crashed = told.crashes.iter().any(|crash| from < crash.line && crash.line < to);
    let again = |what: &str| Some(format!("line {to} {what} line {from}"));
    if crashed {
        // It may not have been written down, and then counts as not made.
        let too_many = usize::from(next.number) > schedule.len() && !told.is_replayed(one.event);
        return too_many.then(|| format!("line {to} is too many"));
    }
    // It began at some moment between the wish and the answer.
    let again_wanted = |replay: &Replay| {
        let is_later = replay.told.is_none_or(|told| from < told.line);
        replay.event == one.event && is_later && replay.asked.line < to
    };
    if told.replays.iter().any(again_wanted) {
        return None;
    }
    if one.succeeded().is_some() {
        return again("repeats what has arrived in");
    }
    let Some((heard, outcome)) = one.heard.filter(|(heard, _)| heard.line < to) else {
        return again("does not wait for the end of");
    };
    if next.number != one.number + 1 {
        return again("does not count on from");
    }
    if told.is_replayed(one.event) {
        return None; // the policy began anew somewhere
    }
    let Some(wait) = schedule.get(usize::from(one.number)) else {
        return again("is one more than allowed after");
    };
    let asked = match outcome {
        Outcome::Answered { retry_after, .. } => retry_after.unwrap_or(0),
        Outcome::Unanswered => 0,
    };
    let wait = Duration::from_secs(asked.max(*wait));
    (next.sent.at < heard.at + wait)
        .then(|| format!("line {to} is early after line {}", heard.line))
}
