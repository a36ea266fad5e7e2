//! Keys of which only the first few are in memory, because something keeps them waiting, and where
//! in the queue the rest of each begins.
//!
//! So others can be read past them, however much there is. When what was in memory of such a key
//! has gone, the queue is read once more from its place: it is looked back.

use std::collections::HashMap;
use std::sync::Arc;

use ferryhook_core::Timestamp;

#[derive(Debug, Default)]
pub(super) struct LeftOut {
    places: HashMap<Arc<str>, Timestamp>,
    /// Reading did not work: not again before then.
    not_before: Timestamp,
}

impl LeftOut {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Whether what came then may be in memory only behind some that is not.
    pub(super) fn hides(&self, key: &str, since: Timestamp) -> bool {
        self.places.get(key).is_some_and(|place| *place <= since)
    }

    pub(super) fn add(&mut self, key: Arc<str>, place: Timestamp) {
        let known = self.places.entry(key).or_insert(place);
        *known = place.min(*known);
    }

    /// The first place of those that somebody waits for.
    pub(super) fn first(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Timestamp> {
        let wanted = self.places.iter().filter(|(key, _)| is_wanted(key));
        wanted.map(|(_, place)| *place).min()
    }

    /// It is looked back from there: those that may go on are read like any other.
    pub(super) fn open(
        &mut self,
        from: Timestamp,
        may: impl Fn(&str) -> bool,
    ) -> Vec<(Arc<str>, Timestamp)> {
        self.places.extract_if(|key, place| *place >= from && may(key)).collect()
    }

    /// It was looked back as far as that: the rest of those is still left out.
    pub(super) fn close(&mut self, opened: Vec<(Arc<str>, Timestamp)>, last: Timestamp) {
        for (key, place) in opened {
            self.add(key, place.max(last));
        }
    }

    pub(super) fn not_before(&self) -> Timestamp {
        self.not_before
    }

    pub(super) fn put_off(&mut self, until: Timestamp) {
        self.not_before = until;
    }

    /// All of them are read like any other from now on; tells where the first begins.
    pub(super) fn clear(&mut self) -> Option<Timestamp> {
        let first = self.first(|_| true);
        self.places.clear();
        first
    }
}
