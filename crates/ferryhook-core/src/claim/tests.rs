use std::time::Duration;

use crate::samples;

#[test]
fn a_claim_counts_as_absent_from_its_expiry_on() {
    let claim = samples::claim();
    assert!(claim.is_live(claim.expires_at - Duration::from_millis(1)));
    assert!(!claim.is_live(claim.expires_at));
}

/// The shape that other writers of the same table have, without our additions.
#[test]
fn an_item_of_another_writer_is_read() {
    let item =
        r#"{"pk":"ALOWARE:719285063","seenAt":"2025-11-05T17:30:00Z","expiresAt":1731173400}"#;
    let claim: super::Claim = serde_json::from_str(item).unwrap();
    assert_eq!(claim.key, "ALOWARE:719285063");
    assert_eq!(claim.seen_at.to_string(), "2025-11-05T17:30:00.000Z");
    assert_eq!((claim.event_id, claim.state), (None, None));
}
