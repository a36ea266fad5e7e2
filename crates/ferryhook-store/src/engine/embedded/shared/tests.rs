use std::sync::Weak;

use lsm_tree::Config;

use super::super::fresh::Version;
use super::*;

/// With two tables that wait to be written out, of one row each.
fn waiting() -> (tempfile::TempDir, Shared) {
    let directory = tempfile::tempdir().unwrap();
    let sequence = SequenceNumberCounter::new(1);
    let tree = Config::new(
        directory.path().join("tree"),
        sequence.clone(),
        SequenceNumberCounter::default(),
    );
    let contents = Contents::new(directory.path());
    let shared = Shared::new(tree.open().unwrap(), sequence, contents, Arc::default());
    for key in [b"\x11one", b"\x11two"] {
        let (key, sequence) = (key.into(), shared.sequence.next());
        shared.table().add(vec![Version { key, value: Some("value".into()), sequence }]);
        shared.publish();
        assert!(shared.seal_table());
    }
    (directory, shared)
}

fn oldest(shared: &Shared) -> Weak<Table> {
    Arc::downgrade(shared.layers().tables.last().unwrap())
}

#[test]
fn a_table_that_was_written_out_is_not_freed_by_who_looked_at_it_last() {
    let (_directory, shared) = waiting();
    let (table, snapshot) = (oldest(&shared), shared.snapshot());
    shared.flush().unwrap();
    assert_eq!(shared.sealed_count(), 0);
    assert!(snapshot.get(b"\x11one").unwrap().is_some(), "as before");
    drop(snapshot);
    assert!(table.strong_count() > 0);
    shared.free_unseen();
    assert_eq!(table.strong_count(), 0);
    assert!(shared.snapshot().get(b"\x11one").unwrap().is_some(), "from the file");
}

/// The checkpoint would move past a table that only the log has.
#[test]
fn after_a_failure_no_table_counts_as_written() {
    let (_directory, shared) = waiting();
    shared.fail("the disk is gone");
    for _ in 0..2 {
        assert!(shared.flush().is_err());
        assert_eq!(shared.sealed_count(), 2);
    }
}
