//! Which files of the tree are merged, and when: a function of how they lie.
//!
//! Merging goes by generations. Tables are what memory wrote out; eight of them become one run, a
//! set of files that do not overlap; four runs become one of the next generation, and four of
//! those one at the bottom. So an entry is written again three times in all, whatever has been
//! stored before it; levels of fixed sizes would write most of the first one again for every few
//! tables. Readers pay for it with more runs to look through, and the filters make that cheap.
//!
//! Every generation has a level for its runs, newest first, and above it one that is empty: what
//! is being made comes to lie there, because the tree merges levels as a whole, and moves down
//! when it is done. Whatever is older lies below, at every step.

/// Tables that become a run. More would cost readers, fewer cost writers.
const TABLES_MAX: usize = 8;
/// Runs of a generation that become one of the next.
const RUNS_MAX: usize = 4;
/// Runs that gather at the bottom before they become one. That is a long merge, and they are few
/// only in a store of many gigabytes.
const BOTTOM_RUNS_MAX: usize = 16;

/// How many levels the tree has.
pub(super) const LEVELS: usize = 7;
const BOTTOM: usize = LEVELS - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All of a level becomes one run, on a level below where nothing lies yet, or where it is.
    Merge { from: usize, to: usize },
    /// A level's one run goes to a level below as it is, above those that are there.
    Move { from: usize, to: usize },
}

/// What to do next with tables and the runs made of them, until there is nothing to do: by how
/// many runs lie on each level. These merges are over in seconds, so that tables never pile up.
pub(super) fn shallow(runs: &[usize; LEVELS]) -> Option<Step> {
    // The older ones first, which makes room for the others.
    generation(2, RUNS_MAX, runs).or_else(|| generation(0, TABLES_MAX, runs))
}

/// The same for what is below. These merges may take minutes and have a thread of their own: no
/// level belongs to both.
pub(super) fn deep(runs: &[usize; LEVELS]) -> Option<Step> {
    let bottom = Step::Merge { from: BOTTOM, to: BOTTOM };
    let is_full = runs[BOTTOM] >= BOTTOM_RUNS_MAX;
    is_full.then_some(bottom).or_else(|| generation(4, RUNS_MAX, runs))
}

fn generation(level: usize, most: usize, runs: &[usize; LEVELS]) -> Option<Step> {
    if runs[level + 1] > 0 {
        return Some(Step::Move { from: level + 1, to: level + 2 });
    }
    (runs[level] >= most).then_some(Step::Merge { from: level, to: level + 1 })
}

#[cfg(test)]
mod tests;
