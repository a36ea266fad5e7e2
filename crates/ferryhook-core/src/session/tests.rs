use super::*;
use crate::samples;

fn begun(env: &Env) -> (Session, Token) {
    Session::begin(&samples::user(), Method::Password, None, None, env)
}

fn renewed(session: &Session, token: &Token, env: &Env) -> (Session, Token) {
    match session.renew(token, env) {
        Renewal::Renewed(session, token) => (*session, token),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_token_counts_once() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (session, first) = begun(&env);
    let (session, second) = renewed(&session, &first, &env);
    clock.advance(GRACE + Duration::from_millis(1));
    assert_eq!(session.renew(&first, &env), Renewal::Reused);
    let (session, third) = renewed(&session, &second, &env);
    assert_eq!(session.renew(&first, &env), Renewal::Reused, "however long ago it was replaced");
    renewed(&session, &third, &env);
}

/// Whoever did not get the answer asks again, and both answers work.
#[test]
fn an_answer_may_be_lost() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (session, first) = begun(&env);
    let (session, lost) = renewed(&session, &first, &env);
    clock.advance(GRACE);
    let (session, again) = renewed(&session, &first, &env);
    assert_ne!(lost, again);
    clock.advance(Duration::from_secs(3600));
    renewed(&session, &lost, &env);
    let (session, _) = renewed(&session, &again, &env);
    // Now one of them was used, and the other has no more than its grace.
    renewed(&session, &lost, &env);
    clock.advance(GRACE + Duration::from_millis(1));
    assert_eq!(session.renew(&lost, &env), Renewal::Reused);
}

#[test]
fn many_lost_answers_do_not_pile_up() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (session, first) = begun(&env);
    let (mut session, _) = renewed(&session, &first, &env);
    for _ in 0..20 {
        session = renewed(&session, &first, &env).0;
    }
    assert_eq!(session.token_hashes.len(), TOKENS_MAX);
}

/// A guess must not be able to end somebody's session.
#[test]
fn a_guess_is_not_a_reuse() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (session, token) = begun(&env);
    let (_, stranger) = begun(&env);
    let guess = Token { family: stranger.family.clone(), ..token.clone() };
    assert_eq!(session.renew(&guess, &env), Renewal::Refused);
    assert_eq!(session.renew(&stranger, &env), Renewal::Refused);
    assert!(session.is_named_by(&token) && !session.is_named_by(&guess));
}

#[test]
fn it_ends_when_it_is_not_used_and_some_day_in_any_case() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (session, token) = begun(&env);
    assert_eq!(session.expires_at, env.now() + IDLE_MAX);
    let (mut used, mut newest) = (session.clone(), token.clone());
    for _ in 0..8 {
        clock.advance(Duration::from_secs(22 * 24 * 60 * 60));
        (used, newest) = renewed(&used, &newest, &env);
    }
    assert_eq!(used.expires_at, used.created_at + AGE_MAX);
    assert_eq!(session.renew(&token, &env), Renewal::Refused);
    clock.advance(Duration::from_secs(4 * 24 * 60 * 60));
    assert_eq!(used.renew(&newest, &env), Renewal::Refused);
}

#[test]
fn it_counts_while_the_user_lets_it() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let user = samples::user();
    let (session, _) = begun(&env);
    assert!(session.counts_for(&user, env.now()));
    assert!(!session.counts_for(&user, session.expires_at));
    let ended = User { session_epoch: user.session_epoch + 1, ..samples::user() };
    assert!(!session.counts_for(&ended, env.now()));
    let suspended = User { status: Status::Suspended, ..samples::user() };
    assert!(!session.counts_for(&suspended, env.now()));
}

#[test]
fn tokens_are_read_as_they_are_written() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (_, token) = begun(&env);
    let text = token.to_text();
    assert_eq!(Token::parse(&text), Some(token));
    let (head, _) = text.rsplit_once('.').unwrap();
    for bad in ["", "...", head, &format!("{text}."), &format!("{text}A"), &format!("{head}.AAAA")]
    {
        assert_eq!(Token::parse(bad), None, "{bad}");
    }
}

#[test]
fn what_is_kept_has_no_token_in_it() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (session, token) = begun(&env);
    let kept = serde_json::to_string(&session).unwrap();
    assert!(!kept.contains(token.own.expose()) && !kept.contains(token.family.expose()));
    assert!(!format!("{session:?} {token:?}").contains(token.own.expose()));
}
