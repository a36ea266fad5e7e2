//! What was read of one shard last, for the next who asks for the same.
//!
//! Those who listen are all at the same spot, the end. So one request of one of them does for all,
//! and the shard is asked as often as it may be, however many listen. The iterator that goes on at
//! a spot is kept with it; whoever comes from elsewhere needs a new one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::checkpoint::Spot;
use super::told::Told;

/// Each has up to 1 MB.
const PAGES_KEPT: usize = 4;
const ENDS_KEPT: usize = 64;
/// The server allows five a second, for all who read.
const REQUESTS_PER_SECOND: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Shelf {
    pages: VecDeque<Page>,
    ends: VecDeque<End>,
    /// When the shard was asked, the last few times.
    asked: VecDeque<Duration>,
    /// Where someone began at its end, or has come to from there.
    tip: Option<(Spot, Duration)>,
}

#[derive(Debug)]
struct Page {
    from: Spot,
    told: Vec<Arc<Told>>,
}

/// A spot behind which nothing is known yet.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) spot: Spot,
    pub(super) iterator: Option<String>,
    /// The shard is closed, and nothing will follow.
    pub(super) is_over: bool,
    /// When nothing was found there.
    pub(super) asked_at: Option<Duration>,
}

impl Shelf {
    /// What is known to follow a spot, which may lie within a page.
    pub(super) fn behind(&self, spot: &Spot) -> Option<Vec<Arc<Told>>> {
        self.pages.iter().find_map(|page| {
            if page.from == *spot {
                return Some(page.told.clone());
            }
            let Spot::After(number) = spot else { return None };
            let place = page.told.iter().position(|told| told.number == *number)?;
            let rest = page.told.get(place + 1..).filter(|rest| !rest.is_empty())?;
            Some(rest.to_vec())
        })
    }

    pub(super) fn end(&self, spot: &Spot) -> Option<&End> {
        self.ends.iter().find(|end| end.spot == *spot)
    }

    pub(super) fn has(&self, spot: &Spot) -> bool {
        self.end(spot).is_some() || self.behind(spot).is_some()
    }

    fn put_end(&mut self, end: End) {
        self.ends.retain(|other| other.spot != end.spot);
        self.ends.push_back(end);
        if self.ends.len() > ENDS_KEPT {
            self.ends.pop_front();
        }
    }

    /// Takes in what an answer has brought, and the iterator behind it, which a closed shard lacks.
    pub(super) fn put(
        &mut self,
        from: &Spot,
        told: Vec<Arc<Told>>,
        next: Option<String>,
        at: Duration,
    ) {
        let is_over = next.is_none();
        let (spot, asked_at) = match told.last() {
            Some(last) => (Spot::After(last.number.clone()), None),
            None => (from.clone(), Some(at)),
        };
        if !told.is_empty() {
            self.ends.retain(|end| end.spot != *from);
            self.pages.retain(|page| page.from != *from);
            self.pages.push_back(Page { from: from.clone(), told });
            if self.pages.len() > PAGES_KEPT {
                self.pages.pop_front();
            }
        }
        if self.tip.as_ref().is_some_and(|(tip, _)| tip == from) {
            self.tip = Some((spot.clone(), at));
        }
        // Someone may be further behind the same spot already.
        if asked_at.is_some() || self.end(&spot).is_none() {
            self.put_end(End { spot, iterator: next, is_over, asked_at });
        }
    }

    /// Nothing was found at a spot so far, but the search goes on.
    pub(super) fn search_on(&mut self, spot: &Spot) {
        for end in self.ends.iter_mut().filter(|end| end.spot == *spot) {
            end.asked_at = None;
        }
    }

    /// Its iterator has run out.
    pub(super) fn forget_end(&mut self, spot: &Spot) {
        self.ends.retain(|end| end.spot != *spot);
    }

    /// A new spot at the end of the shard.
    pub(super) fn put_tip(&mut self, spot: Spot, iterator: String, at: Duration) {
        self.tip = Some((spot.clone(), at));
        self.put_end(End { spot, iterator: Some(iterator), is_over: false, asked_at: None });
    }

    /// Where the shard ended, if that was not before some moment.
    pub(super) fn tip(&self, since: Duration) -> Option<&Spot> {
        self.tip.as_ref().filter(|(_, at)| *at >= since).map(|(spot, _)| spot)
    }

    /// Counts a request if there may be one now; else tells how long to wait.
    pub(super) fn may_ask(&mut self, now: Duration) -> Result<(), Duration> {
        if self.asked.len() >= REQUESTS_PER_SECOND
            && let Some(first) = self.asked.front()
        {
            let free = *first + Duration::from_secs(1);
            if free > now {
                return Err(free - now);
            }
            self.asked.pop_front();
        }
        self.asked.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
