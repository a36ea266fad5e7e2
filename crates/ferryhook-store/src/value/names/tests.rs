use super::*;
use xxhash_rust::xxh3::xxh3_64;

/// Numbers below this many names are on people's disks: what they stand for never changes.
#[test]
fn the_first_names_never_move() {
    const FIRST: usize = 182;
    assert_eq!(xxh3_64(NAMES[..FIRST].join(",").as_bytes()), 15_663_572_004_352_712_150);
}

#[test]
fn every_name_has_one_number() {
    for (name, number) in NAMES.iter().zip(1..) {
        assert_eq!(number_of(name), Some(number), "{name} stands twice");
        assert_eq!(name_of(number), Some(*name));
    }
    for stranger in ["", "a", "event", "eventIds", "\u{1F600}"] {
        assert_eq!(number_of(stranger), None);
    }
    assert_eq!(name_of(0), None);
    assert_eq!(name_of(NAMES.len() as u64 + 1), None);
}
