use super::*;

#[test]
fn it_verifies_for_longer_than_it_signs() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let key = TokenKey::new(Secret::new("k"), &env);
    assert_eq!(key.id.len(), 16);
    clock.advance(SIGNS_FOR - Duration::from_millis(1));
    assert!(key.may_sign(env.now()));
    clock.advance(Duration::from_millis(1));
    assert!(!key.may_sign(env.now()) && key.may_verify(env.now()));
    clock.advance(KEPT_FOR - SIGNS_FOR);
    assert!(!key.may_verify(env.now()));
}
