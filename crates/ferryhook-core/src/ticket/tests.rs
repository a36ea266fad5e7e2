use super::*;
use crate::samples;

#[test]
fn it_is_found_by_its_text_and_purpose() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (ticket, text) = Ticket::issue(Purpose::ResetPassword, Some(&samples::user()), &env);
    let text = text.expose();
    assert_eq!(Ticket::hash_of(text, Purpose::ResetPassword), Some(ticket.hash.clone()));
    assert_eq!(Ticket::hash_of(text, Purpose::VerifyEmail), None);
    assert_eq!(Ticket::hash_of(&format!("fhp_{}", "a".repeat(200)), Purpose::ResetPassword), None);
    assert!(!serde_json::to_string(&ticket).unwrap().contains(text));
}

#[test]
fn it_is_bound_to_the_user_as_they_were() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let user = samples::user();
    let (ticket, _) = Ticket::issue(Purpose::ResetPassword, Some(&user), &env);
    assert!(ticket.is_for(&user));
    assert!(!ticket.is_for(&User { email: "other@example.com".into(), ..samples::user() }));
    assert!(!ticket.is_for(&User { session_epoch: user.session_epoch + 1, ..samples::user() }));
    let (nobodys, _) = Ticket::issue(Purpose::SetUp, None, &env);
    assert!(!nobodys.is_for(&user));
}

#[test]
fn it_lives_for_its_time_and_its_tries() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (mut ticket, _) = Ticket::issue(Purpose::SecondFactor, Some(&samples::user()), &env);
    clock.advance(Purpose::SecondFactor.lives() - Duration::from_millis(1));
    assert!(ticket.is_live(env.now()));
    for _ in 0..TRIES_MAX {
        assert!(ticket.is_live(env.now()));
        ticket = ticket.failed();
    }
    assert!(!ticket.is_live(env.now()));
    clock.advance(Duration::from_millis(1));
    assert!(!Ticket { tries: 0, ..ticket }.is_live(env.now()));
}
