//! The names of events, in the order in which they came.
//!
//! An id has the millisecond in front and chance behind it. Two events of one millisecond would be
//! sorted by chance, and those behind a clock that was set back would be sorted before what came
//! earlier. Whoever delivers in order goes by the ids, so each one made here follows the last.

use std::sync::{Mutex, PoisonError};

use ferryhook_core::{Env, Event, Id, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Option<Id<Event>>>);

impl Names {
    /// A name for an event that arrives now, and the moment that is part of it.
    pub(super) fn next(&self, now: Timestamp, env: &Env) -> (Id<Event>, Timestamp) {
        let id = Id::at(now, env);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = match *last {
            Some(last) if id <= last => last.following(),
            _ => id,
        };
        *last = Some(id);
        (id, id.made_at().unwrap_or(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_follows_the_last_whatever_the_clock_says() {
        let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
        let (names, start) = (Names::default(), env.now());
        let mut made: Vec<_> = (0..20).map(|_| names.next(env.now(), &env)).collect();
        clock.jump_to(start - Duration::from_secs(3600));
        made.extend((0..20).map(|_| names.next(env.now(), &env)));
        assert!(made.is_sorted_by(|one, next| one < next));
        assert!(made.iter().all(|(id, at)| *at == start && id.made_at() == Some(start)));
        clock.jump_to(start + Duration::from_secs(1));
        assert_eq!(names.next(env.now(), &env).1, env.now());
    }
}
