//! Room: how much may wait at once. Who does not fit is told so at once, while others are served.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    requests: AtomicUsize,
    bytes: AtomicUsize,
    requests_max: usize,
    bytes_max: usize,
}

/// One request's share, given back when it goes.
#[derive(Debug)]
pub(super) struct Place {
    room: Room,
    bytes: usize,
}

impl Room {
    pub(super) fn new(requests_max: usize, bytes_max: usize) -> Self {
        let (requests, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(Taken { requests, bytes, requests_max, bytes_max }))
    }

    /// `None` when it is full.
    pub(super) fn enter(&self, bytes: usize) -> Option<Place> {
        if !take(&self.0.requests, 1, self.0.requests_max) {
            return None;
        }
        let mut place = Place { room: self.clone(), bytes: 0 };
        place.grow(bytes).then_some(place)
    }
}

impl Place {
    /// Whether there was room for that much more.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let fits = take(&self.room.0.bytes, bytes, self.room.0.bytes_max);
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.0.requests.fetch_sub(1, Ordering::Relaxed);
        self.room.0.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn take(taken: &AtomicUsize, more: usize, max: usize) -> bool {
    let before = taken.fetch_add(more, Ordering::Relaxed);
    let fits = before.saturating_add(more) <= max;
    if !fits {
        taken.fetch_sub(more, Ordering::Relaxed);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let room = Room::new(2, 10);
        let first = room.enter(4).unwrap();
        let mut second = room.enter(4).unwrap();
        assert!(room.enter(0).is_none(), "two requests are all");
        assert!(second.grow(2) && !second.grow(1), "ten bytes are all");
        drop(first);
        assert!(room.enter(5).is_none());
        assert!(room.enter(4).is_some());
        drop(second);
        assert!(room.enter(10).is_some());
    }
}
