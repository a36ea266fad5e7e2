use super::*;

/// Runs by the numbers of the tables they were made of, newest first on every level.
#[derive(Default)]
struct Tree {
    levels: [Vec<Vec<u64>>; LEVELS],
    tables: u64,
    written: u64,
}

fn next(runs: &[usize; LEVELS]) -> Option<Step> {
    shallow(runs).or_else(|| deep(runs))
}

impl Tree {
    fn runs(&self) -> [usize; LEVELS] {
        self.levels.each_ref().map(Vec::len)
    }

    /// One more table, and all that is to do because of it.
    fn grow(&mut self) {
        self.levels[0].insert(0, vec![self.tables]);
        self.tables += 1;
        let mut steps = 0;
        while let Some(step) = next(&self.runs()) {
            self.take(step);
            self.check();
            steps += 1;
            assert!(steps < 10, "{step:?} leads nowhere");
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Merge { from, to } => {
                let upper = std::mem::take(&mut self.levels[from]);
                assert!(self.levels[to].is_empty(), "{step:?} would take more along");
                let run: Vec<u64> = upper.into_iter().flatten().collect();
                self.written += run.len() as u64;
                self.levels[to].push(run);
            }
            Step::Move { from, to } => {
                assert_eq!(self.levels[from].len(), 1, "only what does not overlap can be moved");
                let run = std::mem::take(&mut self.levels[from]);
                self.levels[to].splice(0..0, run);
            }
        }
    }

    /// From the top down everything is older: else a reader would find the wrong version first.
    fn check(&self) {
        let order: Vec<u64> = self.levels.iter().flatten().flatten().copied().collect();
        assert!(order.is_sorted_by(|newer, older| newer > older), "{:?}", self.levels);
        assert_eq!(order.len() as u64, self.tables);
    }
}

#[test]
fn what_is_older_stays_below_and_runs_stay_few() {
    let mut tree = Tree::default();
    for _ in 0..5_000 {
        tree.grow();
        let runs: usize = tree.runs().iter().sum();
        assert!(runs < TABLES_MAX + 2 * RUNS_MAX + BOTTOM_RUNS_MAX);
    }
}

#[test]
fn a_table_is_written_again_three_times_until_the_bottom_is_full() {
    let whole = (TABLES_MAX * RUNS_MAX * RUNS_MAX * (BOTTOM_RUNS_MAX - 1)) as u64;
    let mut tree = Tree::default();
    for _ in 0..whole {
        tree.grow();
        assert!(tree.written <= 3 * tree.tables, "{} for {}", tree.written, tree.tables);
    }
}

#[test]
fn what_a_crash_left_half_way_goes_on() {
    let half_way = [0, 0, 0, 1, 3, 0, 2];
    assert_eq!(next(&half_way), Some(Step::Move { from: 3, to: 4 }));
    // As levels of fixed sizes would have left it: everything finds its way.
    let mut other = Tree { tables: 14, ..Tree::default() };
    other.levels = [13..14, 12..13, 10..12, 8..10, 6..8, 3..6, 0..3]
        .map(|run| vec![run.rev().collect::<Vec<u64>>()]);
    (0..500).for_each(|_| other.grow());
    other.check();
}

/// What is merged below does not keep tables from being merged, and the other way round.
#[test]
fn neither_waits_for_the_other() {
    let both = [8, 0, 4, 0, 4, 0, 16];
    assert_eq!(shallow(&both), Some(Step::Merge { from: 2, to: 3 }));
    assert_eq!(deep(&both), Some(Step::Merge { from: 6, to: 6 }));
    // While the runs of level 4 are being merged, the next one comes to lie above them.
    assert_eq!(shallow(&[0, 0, 0, 1, 4, 0, 0]), Some(Step::Move { from: 3, to: 4 }));
}

#[test]
fn few_tables_and_an_empty_tree_are_left_alone() {
    assert_eq!(next(&[0; LEVELS]), None);
    assert_eq!(next(&[TABLES_MAX - 1, 0, 3, 0, 3, 0, 15]), None);
}
