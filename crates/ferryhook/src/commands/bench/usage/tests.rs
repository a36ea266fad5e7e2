use super::*;

#[test]
fn the_fields_are_found_behind_any_name() {
    let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 1 0 99";
    assert_eq!(cpu(stat), Some(Duration::from_secs(2)));
    let io = "rchar: 1\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n";
    assert_eq!(field(io, "write_bytes:"), Some(4096));
    assert_eq!(field("VmHWM:\t   12 kB\n", "VmHWM:"), Some(12));
}

#[test]
fn what_is_not_there_is_not_told() {
    assert_eq!(Usage::of(u32::MAX), None);
    assert_eq!(cpu("42 (x) S 1"), None);
}
