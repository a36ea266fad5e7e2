use std::time::Duration;

use super::*;
use crate::samples;

#[test]
fn a_key_opens_until_it_expires_or_is_revoked() {
    let key = samples::key();
    let end = key.expires_at.unwrap();
    assert!(key.is_usable(end - Duration::from_millis(1)));
    assert!(!key.is_usable(end));

    let endless = Key { expires_at: None, ..key };
    assert!(endless.is_usable(Timestamp::MAX));
    for status in [Status::Revoked, Status::Expired] {
        let closed = Key { status, ..endless.clone() };
        assert!(!closed.is_usable(samples::CREATED));
    }
}

#[test]
fn each_permission_includes_the_ones_before() {
    assert!(Permissions::Admin > Permissions::Write);
    assert!(Permissions::Write > Permissions::Read);
}
