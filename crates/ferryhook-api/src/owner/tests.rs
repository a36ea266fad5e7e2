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
