//! What signing in keeps: sessions, tickets, the keys of tokens, and who is who elsewhere.

use std::time::Duration;

use ferryhook_core::session::{Method, Renewal};
use ferryhook_core::ticket::{Purpose, TRIES_MAX};
use ferryhook_core::token_key::KEPT_FOR;
use ferryhook_core::user::Identity;
use ferryhook_core::{Secret, Session, Ticket, TokenKey, User, session};
use ferryhook_store::{Slice, Stored, UniqueError};
use tokio::task::JoinSet;

use crate::bench::{Bench, all};

/// Someone who is nobody at GitHub or Google: those ids would be the same in every case.
fn person(bench: &Bench) -> User {
    User { github_id: None, google_id: None, ..bench.user() }
}

async fn signed_up(bench: &Bench) -> Stored<User> {
    let user = person(bench);
    bench.store.users().create(&user).await.unwrap();
    bench.store.users().find(user.id).await.unwrap().unwrap()
}

async fn signed_in(bench: &Bench, user: &Stored<User>) -> (Stored<User>, Session, session::Token) {
    let (session, token) = Session::begin(user, Method::Password, None, None, &bench.env);
    let now = User { last_login_at: Some(session.expires_at), ..user.record.clone() };
    let user = bench.store.sessions().begin(user, now, &session).await.unwrap();
    (user, session, token)
}

async fn find(bench: &Bench, session: &Session) -> Option<Stored<Session>> {
    bench.store.sessions().find(session.user_id, session.id).await.unwrap()
}

pub(crate) async fn a_session_begins_if_the_user_is_as_they_were(bench: Bench) {
    let user = signed_up(&bench).await;
    let (now, session, _) = signed_in(&bench, &user).await;
    assert_eq!(find(&bench, &session).await.unwrap().record, session);
    assert_eq!(bench.store.users().find(user.id).await.unwrap(), Some(now));
    // As it was before the first sign-in, which the second does not know of.
    let (late, _) = Session::begin(&user, Method::Github, None, None, &bench.env);
    let refused = bench.store.sessions().begin(&user, user.record.clone(), &late).await;
    assert!(refused.unwrap_err().is_refused());
    assert!(find(&bench, &late).await.is_none());
}

pub(crate) async fn a_session_is_renewed_by_one(bench: Bench) {
    let user = signed_up(&bench).await;
    let (_, session, token) = signed_in(&bench, &user).await;
    let was = find(&bench, &session).await.unwrap();
    bench.tick();
    let Renewal::Renewed(now, _) = was.renew(&token, &bench.env) else { panic!("not renewed") };
    let renewed = bench.store.sessions().renew(&was, *now.clone()).await.unwrap();
    assert_eq!(find(&bench, &session).await, Some(renewed));
    assert!(bench.store.sessions().renew(&was, *now).await.unwrap_err().is_refused());
}

pub(crate) async fn sessions_are_listed_for_their_user_and_end(bench: Bench) {
    let (user, other) = (signed_up(&bench).await, signed_up(&bench).await);
    let (user, first, _) = signed_in(&bench, &user).await;
    let (user, second, _) = signed_in(&bench, &user).await;
    signed_in(&bench, &other).await;
    let sessions = bench.store.sessions();
    let list = async || {
        let listed =
            all(Slice::default().limit(1), async |slice| sessions.list(user.id, slice).await);
        let mut ids: Vec<_> = listed.await.into_iter().map(|session| session.id).collect();
        ids.sort_unstable();
        ids
    };
    let mut both = [first.id, second.id];
    both.sort_unstable();
    assert_eq!(list().await, both);
    let was = find(&bench, &first).await.unwrap();
    sessions.end(&was).await.unwrap();
    assert_eq!(list().await, [second.id]);
    assert!(sessions.end(&was).await.unwrap_err().is_refused());
}

pub(crate) async fn a_session_is_gone_when_its_time_is_over(bench: Bench) {
    let user = signed_up(&bench).await;
    let (_, session, _) = signed_in(&bench, &user).await;
    bench.clock.advance(session::IDLE_MAX - Duration::from_secs(1));
    assert!(find(&bench, &session).await.is_some());
    bench.clock.advance(Duration::from_secs(1));
    assert!(find(&bench, &session).await.is_none());
}

pub(crate) async fn the_others_end_together_with_the_change(bench: Bench) {
    let user = signed_up(&bench).await;
    let (user, own, _) = signed_in(&bench, &user).await;
    let (user, other, _) = signed_in(&bench, &user).await;
    let was = find(&bench, &own).await.unwrap();
    let epoch = user.session_epoch + 1;
    let changed = User { session_epoch: epoch, ..user.record.clone() };
    let kept = Session { epoch, ..own.clone() };
    let sessions = bench.store.sessions();
    let user = sessions.end_others(&user, changed, (&was, &kept)).await.unwrap();
    let now = bench.now();
    assert!(find(&bench, &own).await.unwrap().counts_for(&user, now));
    assert!(!find(&bench, &other).await.unwrap().counts_for(&user, now));
}

async fn issued(bench: &Bench, purpose: Purpose, user: &User) -> (Ticket, Secret) {
    let (ticket, text) = Ticket::issue(purpose, Some(user), &bench.env);
    bench.store.tickets().issue(&ticket).await.unwrap();
    (ticket, text)
}

async fn found(bench: &Bench, text: &Secret, purpose: Purpose) -> Option<Stored<Ticket>> {
    let hash = Ticket::hash_of(text.expose(), purpose)?;
    bench.store.tickets().find(&hash).await.unwrap()
}

pub(crate) async fn a_ticket_is_found_by_its_text_and_taken_once(bench: Bench) {
    let user = person(&bench);
    let (ticket, text) = issued(&bench, Purpose::VerifyEmail, &user).await;
    let was = found(&bench, &text, Purpose::VerifyEmail).await.unwrap();
    assert_eq!(was.record, ticket);
    bench.store.tickets().take(&was).await.unwrap();
    assert!(bench.store.tickets().take(&was).await.unwrap_err().is_refused());
    assert!(found(&bench, &text, Purpose::VerifyEmail).await.is_none());
}

pub(crate) async fn a_ticket_counts_wrong_answers(bench: Bench) {
    let user = person(&bench);
    let (_, text) = issued(&bench, Purpose::SecondFactor, &user).await;
    let hash = Ticket::hash_of(text.expose(), Purpose::SecondFactor).unwrap();
    // All at once: each counts, and those over the bound are let nowhere near the answer.
    let mut racers = JoinSet::new();
    for _ in 0..2 * TRIES_MAX {
        let (store, hash) = (bench.store.clone(), hash.clone());
        racers.spawn(async move { store.tickets().try_once(&hash).await });
    }
    let tried = racers.join_all().await.into_iter().filter_map(Result::unwrap);
    let mut tries: Vec<_> = tried.map(|ticket| ticket.tries).collect();
    tries.sort_unstable();
    assert_eq!(tries, (1..=TRIES_MAX).collect::<Vec<_>>());
    assert!(found(&bench, &text, Purpose::SecondFactor).await.is_none());
    // One of those that were let near it may have been right.
    assert!(bench.store.tickets().use_up(&hash).await.unwrap());
    assert!(!bench.store.tickets().use_up(&hash).await.unwrap());
}

pub(crate) async fn a_ticket_runs_out(bench: Bench) {
    let user = person(&bench);
    let (_, text) = issued(&bench, Purpose::SetUp, &user).await;
    bench.clock.advance(Purpose::SetUp.lives());
    assert!(found(&bench, &text, Purpose::SetUp).await.is_none());
}

pub(crate) async fn a_ticket_is_redeemed_together_with_the_change(bench: Bench) {
    let user = signed_up(&bench).await;
    let (_, text) = issued(&bench, Purpose::ResetPassword, &user).await;
    let ticket = found(&bench, &text, Purpose::ResetPassword).await.unwrap();
    let with = |hash: &str| User { password_hash: Some(Secret::new(hash)), ..user.record.clone() };
    let tickets = bench.store.tickets();
    let changed = tickets.redeem(&ticket, &user, with("one")).await.unwrap();
    let refused = tickets.redeem(&ticket, &changed, with("two")).await;
    assert!(refused.unwrap_err().is_refused());
    assert_eq!(bench.store.users().find(user.id).await.unwrap(), Some(changed));
    // And the other way round: a user who has changed meanwhile leaves the ticket as it was.
    let (_, text) = issued(&bench, Purpose::ResetPassword, &user).await;
    let ticket = found(&bench, &text, Purpose::ResetPassword).await.unwrap();
    let refused = tickets.redeem(&ticket, &user, with("three")).await;
    assert!(refused.unwrap_err().is_refused());
    assert!(found(&bench, &text, Purpose::ResetPassword).await.is_some());
}

/// The list is everybody's, so only this case's own are looked at.
pub(crate) async fn token_keys_are_listed_from_the_newest_and_forgotten(bench: Bench) {
    let keys = bench.store.token_keys();
    let older = TokenKey::new(Secret::new("older"), &bench.env);
    keys.create(&older).await.unwrap();
    bench.advance(86_400);
    let newer = TokenKey::new(Secret::new("newer"), &bench.env);
    keys.create(&newer).await.unwrap();
    let own = async || {
        let mut listed = keys.list().await.unwrap();
        listed.retain(|key| *key == older || *key == newer);
        listed
    };
    assert_eq!(own().await, [newer.clone(), older.clone()]);
    bench.clock.advance(KEPT_FOR - Duration::from_secs(86_400));
    assert_eq!(own().await, std::slice::from_ref(&newer));
}

pub(crate) async fn an_identity_belongs_to_one_user(bench: Bench) {
    let users = bench.store.users();
    let (at, id) = (Identity::Github, bench.own("octocat"));
    let user = signed_up(&bench).await;
    assert!(users.find_identity(at, &id).await.unwrap().is_none());
    let linked = users.replace(&user, user.record.clone().with_identity(at, &id)).await.unwrap();
    assert_eq!(users.find_identity(at, &id).await.unwrap(), Some(linked.clone()));
    assert!(users.find_identity(Identity::Google, &id).await.unwrap().is_none());
    let other = signed_up(&bench).await;
    let refused = users.replace(&other, other.record.clone().with_identity(at, &id)).await;
    assert!(matches!(refused, Err(UniqueError::Taken("identity"))), "{refused:?}");
    let refused = users.create(&person(&bench).with_identity(at, &id)).await;
    assert!(matches!(refused, Err(UniqueError::Taken("identity"))), "{refused:?}");
    // The same text at another platform is somebody else.
    let google = other.record.clone().with_identity(Identity::Google, &id);
    users.replace(&other, google).await.unwrap();
    // Given up, it is free for others.
    users.replace(&linked, user.record.clone()).await.unwrap();
    users.create(&person(&bench).with_identity(at, &id)).await.unwrap();
}

pub(crate) async fn an_identity_is_given_up_with_the_user(bench: Bench) {
    let users = bench.store.users();
    let (at, id) = (Identity::Google, bench.own("1082"));
    let user = person(&bench).with_identity(at, &id);
    users.create(&user).await.unwrap();
    let was = users.find(user.id).await.unwrap().unwrap();
    users.delete(&was).await.unwrap();
    assert!(users.find_identity(at, &id).await.unwrap().is_none());
    users.create(&person(&bench).with_identity(at, &id)).await.unwrap();
}

/// A code counts once, also when it is typed in two places at the same time.
pub(crate) async fn of_many_who_sign_in_with_one_code_one_does(bench: Bench) {
    let user = signed_up(&bench).await;
    let mut racers = JoinSet::new();
    for _ in 0..16 {
        let (store, user) = (bench.store.clone(), user.clone());
        let (session, _) = Session::begin(&user, Method::Password, None, None, &bench.env);
        racers.spawn(async move {
            let now = User { totp_last_step: Some(7), ..user.record.clone() };
            store.sessions().begin(&user, now, &session).await.is_ok()
        });
    }
    let winners = racers.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(winners, 1);
    let listed = bench.store.sessions().list(user.id, Slice::default()).await.unwrap();
    assert_eq!(listed.rows.len(), 1);
}
