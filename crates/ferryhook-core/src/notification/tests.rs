use super::*;
use crate::samples;

#[test]
fn the_first_reading_is_remembered() {
    let unread = Notification { is_read: false, read_at: None, ..samples::notification() };
    let read = unread.read(samples::CREATED).read(samples::UPDATED);
    assert!(read.is_read);
    assert_eq!(read.read_at, Some(samples::CREATED));
}
