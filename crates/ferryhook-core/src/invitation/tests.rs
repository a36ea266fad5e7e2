use std::time::Duration;

use super::*;
use crate::samples;

fn new(env: &Env) -> (Invitation, Token) {
    let (account, user) = (samples::account().id, samples::user().id);
    Invitation::new(account, " Grace@Example.com ", Role::Member, user, env)
}

#[test]
fn a_token_opens_its_invitation_for_a_week() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (invitation, token) = new(&env);
    let read = Token::parse(token.text().expose()).unwrap();
    assert_eq!((read.account, read.invitation), (invitation.account_id, invitation.id));
    assert!(invitation.is_opened_by(&read, env.now()));

    clock.advance(limits::INVITATION_LIVES - Duration::from_millis(1));
    assert!(invitation.is_opened_by(&read, env.now()));
    clock.advance(Duration::from_millis(1));
    assert!(!invitation.is_opened_by(&read, env.now()));
    assert_eq!(invitation.status_at(env.now()), Status::Expired);
}

#[test]
fn no_other_token_opens_it() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let ((invitation, token), (_, other)) = (new(&env), new(&env));
    assert!(!invitation.is_opened_by(&other, env.now()));
    let forged = Token { secret: other.secret, ..token };
    assert!(!invitation.is_opened_by(&forged, env.now()));
}

#[test]
fn it_is_used_once() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (invitation, token) = new(&env);
    let used = invitation.accepted(samples::user().id);
    let revoked = Invitation { status: Status::Revoked, ..invitation };
    assert!(!used.is_opened_by(&token, env.now()));
    assert!(!revoked.is_opened_by(&token, env.now()));
}

#[test]
fn it_is_for_one_address_in_any_case() {
    let (invitation, _) = new(&Env::fixed("2026-01-01T00:00:00Z"));
    assert!(invitation.is_for("grace@example.COM"));
    assert!(!invitation.is_for("grace@example.org"));
}

#[test]
fn what_is_no_token_is_none() {
    let (_, token) = new(&Env::fixed("2026-01-01T00:00:00Z"));
    let text = token.text().expose().to_owned();
    for wrong in [
        String::new(),
        "fh_inv_".to_owned(),
        text[1..].to_owned(),
        text[..text.len() - 1].to_owned(),
        format!("{text}x"),
        text.replacen("fh_inv_", "fh_inv_ü", 1)[..text.len()].to_owned(),
        text.replace(&text[10..11], "!"),
    ] {
        assert_eq!(Token::parse(&wrong), None, "{wrong}");
    }
    assert!(!format!("{token:?}").contains(token.secret.expose()));
}
