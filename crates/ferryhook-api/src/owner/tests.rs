use std::sync::Arc;

use ferryhook_store::engine::memory::Memory;

use super::*;

fn store(env: &Env) -> Store {
    Store::new(Arc::new(Memory::new(env.clone())), env.clone())
}

#[tokio::test]
async fn an_owner_is_made_once() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    assert_eq!(find(&store).await.unwrap(), None);
    let owner = ensure(&store, &env).await.unwrap();
    assert_eq!(ensure(&store, &env).await.unwrap(), owner);
    assert_eq!(find(&store).await.unwrap(), Some(owner));

    let user = store.users().find(owner.user).await.unwrap().unwrap();
    assert_eq!((&*user.email, &*user.plan), ("owner@localhost", "self_hosted"));
    let account = store.accounts().find(owner.account).await.unwrap().unwrap();
    assert_eq!((account.user_id, account.parent_account_id), (owner.user, None));
    let member = store.members().find(owner.user, owner.account).await.unwrap().unwrap();
    assert_eq!(member.role, Role::Admin);
}

/// Whoever comes second finds the address taken, and then the one who took it.
#[tokio::test]
async fn those_who_need_one_at_the_same_time_get_the_same() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let all = (0..8).map(|_| ensure(&store, &env));
    let owners = futures_util::future::try_join_all(all).await.unwrap();
    assert!(owners.iter().all(|owner| *owner == owners[0]), "{owners:?}");
}

async fn claim_as(store: &Store, env: &Env, email: &str) -> Result<Owner, ClaimError> {
    claim(store, env, email, "Ada", Secret::new("hash")).await
}

#[tokio::test]
async fn the_first_person_takes_over_what_was_made_before() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let local = ensure(&store, &env).await.unwrap();
    assert!(!is_claimed(&store).await.unwrap());
    let owner = claim_as(&store, &env, "ada@example.com").await.unwrap();
    assert_eq!(owner, local);
    assert!(is_claimed(&store).await.unwrap());
    let user = store.users().find_holder("ada@example.com").await.unwrap().unwrap();
    assert_eq!((user.id, &*user.name, user.email_verified), (owner.user, "Ada", true));
    assert_eq!(user.password_hash, Some(Secret::new("hash")));
    assert!(store.users().find_holder(EMAIL).await.unwrap().is_none());

    let second = claim_as(&store, &env, "eve@example.com").await;
    assert!(matches!(second, Err(ClaimError::Claimed)), "{second:?}");
    assert_eq!(ensure(&store, &env).await.unwrap(), owner);
    assert!(is_operator(&store, owner.user).await.unwrap());
}

/// Also when nothing had been made before, and however many try at once.
#[tokio::test]
async fn an_installation_is_claimed_once() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let emails: Vec<_> = (0..8).map(|place| format!("p{place}@example.com")).collect();
    let all = emails.iter().map(|email| claim_as(&store, &env, email));
    let claims = futures_util::future::join_all(all).await;
    assert_eq!(claims.iter().filter(|claim| claim.is_ok()).count(), 1, "{claims:?}");
    let late = |claim: &&Result<_, _>| matches!(claim, Err(ClaimError::Claimed));
    assert_eq!(claims.iter().filter(late).count(), 7);
}

#[tokio::test]
async fn an_address_that_is_taken_claims_nothing() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    ensure(&store, &env).await.unwrap();
    store.users().create(&ferryhook_core::samples::user()).await.unwrap();
    let taken = claim_as(&store, &env, "Ada@Example.com").await;
    assert!(matches!(taken, Err(ClaimError::EmailTaken)), "{taken:?}");
    assert!(!is_claimed(&store).await.unwrap());
}

/// Data from before there were markers.
#[tokio::test]
async fn an_older_owner_is_found_by_its_address_and_marked() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let (user, account, member) = new(&env);
    store.users().sign_up(&user, &account, &member).await.unwrap();
    let old = Owner { user: user.id, account: account.id };
    assert_eq!(find(&store).await.unwrap(), Some(old));
    assert!(store.installation().find().await.unwrap().is_none());
    assert_eq!(ensure(&store, &env).await.unwrap(), old);
    assert_eq!(store.installation().find().await.unwrap().unwrap().account.id, account.id);
}

#[tokio::test]
async fn an_older_owner_can_be_claimed_at_once() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let (user, account, member) = new(&env);
    store.users().sign_up(&user, &account, &member).await.unwrap();
    let owner = claim_as(&store, &env, "ada@example.com").await.unwrap();
    assert_eq!(owner.account, account.id);
    assert_eq!(find(&store).await.unwrap(), Some(owner));
}

/// A stranger does not become the owner by signing up under its address first.
#[tokio::test]
async fn someone_with_the_owners_address_is_not_the_owner() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let (mut user, account, member) = new(&env);
    user.password_hash = Some(Secret::new("theirs"));
    store.users().sign_up(&user, &account, &member).await.unwrap();
    assert_eq!(find(&store).await.unwrap(), None);
    assert!(!is_operator(&store, user.id).await.unwrap());
    let local = ensure(&store, &env).await.unwrap();
    assert_ne!(local.user, user.id);
    assert!(!is_claimed(&store).await.unwrap());
    let owner = claim_as(&store, &env, "ada@example.com").await.unwrap();
    assert_eq!(owner, local);
}

/// The owner's default account may be any; the installation's stays what it is.
#[tokio::test]
async fn the_owner_may_work_elsewhere() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = store(&env);
    let owner = ensure(&store, &env).await.unwrap();
    store.members().make_default(owner.user, Id::new(&env)).await.unwrap();
    assert_eq!(find(&store).await.unwrap(), Some(owner));
}
