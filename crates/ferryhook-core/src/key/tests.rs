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

#[test]
fn a_use_is_noted_once_a_minute() {
    let at = samples::CREATED;
    let key = Key { last_used_at: Some(at), ..samples::key() };
    assert!(!key.is_use_news(at + Duration::from_secs(59)));
    assert!(key.is_use_news(at + Duration::from_secs(60)));
    assert!(!key.is_use_news(at - Duration::from_secs(600)), "a clock that was set back");
    assert!(Key { last_used_at: None, ..key }.is_use_news(at));
}

#[test]
fn a_key_that_ran_out_is_called_expired() {
    let key = samples::key();
    let end = key.expires_at.unwrap();
    assert_eq!(key.status_at(end - Duration::from_millis(1)), Status::Active);
    assert_eq!(key.status_at(end), Status::Expired);
    assert_eq!(Key { status: Status::Revoked, ..key }.status_at(end), Status::Revoked);
}
