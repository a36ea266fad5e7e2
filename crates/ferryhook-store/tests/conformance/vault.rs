//! Secrets at rest: sealed below, plain above, bound to their place, and rotated.
//!
//! Cases that share tables share the installation's own key, and so the master key.

use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::answer::Reply;
use ferryhook_core::data_key::INSTALLATION;
use ferryhook_core::sealing::MasterKey;
use ferryhook_core::{Headers, Secret, Source, limits, samples};
use ferryhook_store::batch::Patch;
use ferryhook_store::repositories::{Answering, Asked, Edit};
use ferryhook_store::{
    Batch, Kind, MasterKeys, Record, Slice, Store, StoreError, Value, Vault, VaultError,
};
use futures_util::future::join_all;
use tokio::sync::Notify;

use crate::bench::{Bench, all};

const OLD: [u8; 32] = [7; 32];
const NEW: [u8; 32] = [8; 32];

fn keys(current: [u8; 32], former: &[[u8; 32]]) -> MasterKeys {
    let former = former.iter().map(MasterKey::new).collect();
    MasterKeys { current: MasterKey::new(&current), former }
}

async fn vault(bench: &Bench) -> Arc<Vault> {
    Arc::new(Vault::open(&bench.store, keys(OLD, &[])).await.unwrap())
}

async fn sealed(bench: &Bench) -> Store {
    bench.store.clone().sealed_by(vault(bench).await)
}

/// What the engine has, as text.
async fn raw(bench: &Bench, record: &impl Record) -> String {
    let row = bench.row(&record.key()).await.unwrap();
    format!("{:?}", row.item.iter().collect::<Vec<_>>())
}

#[track_caller]
fn assert_sealed(raw: &str) {
    assert!(!raw.contains("hush") && raw.contains("sealed:v1:"), "{raw}");
}

/// The error names the kind and gives nothing away.
#[track_caller]
fn assert_corrupt<T>(result: Result<T, StoreError>, expected: Kind) {
    match result {
        Err(StoreError::Corrupt { kind, reason }) if kind == expected => {
            assert!(!reason.contains("hush") && !reason.contains("sealed:v1:"), "{reason}");
        }
        Err(other) => panic!("expected a corrupt {expected}, got {other:?}"),
        Ok(_) => panic!("expected a corrupt {expected}, and it was read"),
    }
}

pub(crate) async fn secrets_are_sealed_below_and_plain_above(bench: Bench) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let source = Source { id: home.source, ..bench.source(home) };
    store.sources().create(&source).await.unwrap();
    assert_sealed(&raw(&bench, &source).await);
    let found = store.sources().find_owned(home.user, source.id).await.unwrap().unwrap();
    assert_eq!(found.record, source);
    assert_eq!(store.sources().find(source.id).await.unwrap().unwrap().record, source);
    let list = async |slice| store.sources().list_by_account(home.account, slice).await;
    assert_eq!(all(Slice::default(), list).await, std::slice::from_ref(&source));

    let mut connection = bench.connection(home);
    connection.headers = Headers::from_iter([("Authorization", "Bearer hush-header")]);
    store.connections().create(&connection).await.unwrap();
    assert_sealed(&raw(&bench, &connection).await);
    let found = store.connections().find_of(home.source, connection.id).await.unwrap().unwrap();
    assert_eq!(found.record, connection);

    let mut hook = bench.hook(home);
    hook.headers = Some([("X-Key".to_owned(), "hush-header".to_owned())].into());
    store.hooks().create(&hook).await.unwrap();
    assert_sealed(&raw(&bench, &hook).await);
    assert_eq!(store.hooks().find(hook.id).await.unwrap().unwrap().record, hook);
}

pub(crate) async fn edits_are_sealed(bench: Bench) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let source = Source { id: home.source, ..bench.source(home) };
    let connection = bench.connection(home);
    let made = [Edit::CreateSource(source.clone()), Edit::CreateConnection(connection.clone())];
    store.sources().edit(&made).await.unwrap();
    assert_sealed(&raw(&bench, &source).await);
    assert_sealed(&raw(&bench, &connection).await);

    let was = store.sources().find_owned(home.user, source.id).await.unwrap().unwrap();
    let changed = Source { name: "Other".to_owned(), previous_secrets: Vec::new(), ..source };
    let edit = Edit::ReplaceSource(was, changed.clone());
    store.sources().edit(&[edit]).await.unwrap();
    assert_sealed(&raw(&bench, &changed).await);
    let found = store.sources().find_owned(home.user, changed.id).await.unwrap().unwrap();
    assert_eq!(found.record, changed);
}

pub(crate) async fn what_an_older_version_left_in_the_open_is_sealed_when_it_is_written(
    bench: Bench,
) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let source = bench.source(home);
    bench.store.sources().create(&source).await.unwrap();
    assert!(raw(&bench, &source).await.contains("hush"));
    let was = store.sources().find_owned(home.user, source.id).await.unwrap().unwrap();
    assert_eq!(was.record, source);
    let renamed = Source { name: "Other".to_owned(), ..source };
    let now = store.sources().replace(&was, renamed.clone()).await.unwrap();
    assert_sealed(&raw(&bench, &renamed).await);
    let found = store.sources().find_owned(home.user, renamed.id).await.unwrap().unwrap();
    assert_eq!(found, now);
}

/// Whoever can write to the store, but has no key, cannot make one's secret another's.
pub(crate) async fn what_was_sealed_elsewhere_does_not_open(bench: Bench) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let [source, sibling] = [(); 2].map(|()| bench.source(home));
    let stranger = bench.source(bench.home());
    for source in [&source, &sibling, &stranger] {
        store.sources().create(source).await.unwrap();
    }
    let text = |row: &ferryhook_store::engine::Row| row.item.get("signingSecret").cloned().unwrap();
    let own = text(&bench.row(&source.key()).await.unwrap());
    let put = async |into: &Source, name: &'static str, value: Value| {
        let patch = Patch::of(Kind::Source, into.key()).set(name, value);
        bench.commit(Batch::new().patch(patch)).await.unwrap();
    };
    // Of another account, of another source of the same, and in another attribute.
    for (victim, name) in
        [(&stranger, "signingSecret"), (&sibling, "signingSecret"), (&source, "config")]
    {
        put(victim, name, own.clone()).await;
        let found = store.sources().find_owned(victim.user_id, victim.id).await;
        assert_corrupt(found, Kind::Source);
    }
    // A row that changes its owner takes nothing along.
    let moved = bench.source(home);
    store.sources().create(&moved).await.unwrap();
    put(&moved, "accountId", stranger.account_id.as_str().into()).await;
    assert_corrupt(store.sources().find_owned(home.user, moved.id).await, Kind::Source);
}

pub(crate) async fn what_was_altered_does_not_open(bench: Bench) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let hook = bench.hook(home);
    store.hooks().create(&hook).await.unwrap();
    for forged in ["sealed:v1:", "sealed:v1:0000000000000000:AAAA", "sealed:v2:hm"] {
        let patch = Patch::of(Kind::Hook, hook.key()).set("secret", forged);
        bench.commit(Batch::new().patch(patch)).await.unwrap();
        match forged.starts_with("sealed:v1:") {
            true => assert_corrupt(store.hooks().find(hook.id).await, Kind::Hook),
            // Somebody's own words, for all we know.
            false => {
                let found = store.hooks().find(hook.id).await.unwrap().unwrap();
                assert_eq!(found.secret.expose(), forged);
            }
        }
    }
}

pub(crate) async fn a_store_without_a_vault_refuses_what_is_sealed(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    sealed(&bench).await.sources().create(&source).await.unwrap();
    let plain = bench.store.sources();
    assert_corrupt(plain.find_owned(home.user, source.id).await, Kind::Source);
    assert_corrupt(plain.list_by_account(home.account, Slice::default()).await, Kind::Source);
}

pub(crate) async fn two_who_make_a_key_at_once_have_the_same(bench: Bench) {
    let home = bench.home();
    // Two processes: neither sees what the other has in memory.
    let nodes = [sealed(&bench).await, sealed(&bench).await];
    let sources: Vec<_> = (0..8).map(|_| bench.source(home)).collect();
    let creating = sources.iter().enumerate().map(|(number, source)| {
        let store = nodes[number % 2].clone();
        async move { store.sources().create(source).await.unwrap() }
    });
    join_all(creating).await;
    for source in &sources {
        for store in &nodes {
            let found = store.sources().find_owned(home.user, source.id).await.unwrap();
            assert_eq!(&found.unwrap().record, source);
        }
    }
}

pub(crate) async fn a_lost_key_is_told(bench: Bench) {
    let home = bench.home();
    let source = bench.source(home);
    sealed(&bench).await.sources().create(&source).await.unwrap();
    let key = bench.store.data_keys().find(home.account.as_str()).await.unwrap().unwrap();
    bench.commit(Batch::new().delete(&key)).await.unwrap();
    let elsewhere = sealed(&bench).await;
    let found = elsewhere.sources().find_owned(home.user, source.id).await;
    assert_corrupt(found, Kind::Source);
}

pub(crate) async fn the_largest_answer_fits_sealed(bench: Bench) {
    let (home, store) = (bench.home(), sealed(&bench).await);
    let caller = bench.own("caller");
    let account = Some(home.account);
    let asked = Asked { caller: &caller, key_hash: "0a1b", account, fingerprint: "2c3d" };
    let lease = Duration::from_secs(60);
    let Answering::First(begun) = store.answers().begin(asked, lease).await.unwrap() else {
        panic!("somebody was first");
    };
    let header = "hush".repeat((limits::ANSWER_HEADERS_BYTES_MAX - 8) / 4);
    let reply = Reply {
        status: 200,
        content_type: Some("application/json".to_owned()),
        headers: Headers::from_iter([("Location", header)]),
        body: "hush".repeat(limits::ANSWER_BODY_BYTES_MAX / 4).into(),
    };
    store.answers().finish(&begun, reply.clone()).await.unwrap();
    assert_sealed(&raw(&bench, &begun).await);
    let again = store.answers().begin(asked, lease).await.unwrap();
    assert_eq!(again, Answering::Finished(reply));
}

pub(crate) async fn what_belongs_to_nobody_is_sealed_too(bench: Bench) {
    let store = sealed(&bench).await;
    let mut state = samples::oauth_state();
    state.state = Secret::new(bench.own("state"));
    state.account_id = None;
    state.expires_at = bench.later(600);
    store.oauth_states().create(&state).await.unwrap();
    assert_sealed(&raw(&bench, &state).await);
    let taken = store.oauth_states().take(state.state.expose()).await.unwrap().unwrap();
    assert_eq!(taken.code_verifier, state.code_verifier);
}

pub(crate) async fn another_master_key_is_refused_at_once(bench: Bench) {
    vault(&bench).await;
    let refused = Vault::open(&bench.store, keys(NEW, &[])).await.unwrap_err();
    assert!(matches!(refused, VaultError::WrongKey { .. }), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains(MasterKey::new(&OLD).id()), "{said}");
    // With the right one among them it opens.
    Vault::open(&bench.store, keys(NEW, &[OLD])).await.unwrap();
}

/// Sources of many accounts, so that every shard has some.
async fn many(bench: &Bench, store: &Store) -> Vec<Source> {
    let mut made = Vec::new();
    for _ in 0..40 {
        let source = bench.source(bench.home());
        store.sources().create(&source).await.unwrap();
        made.push(source);
    }
    made
}

async fn assert_readable(store: &Store, sources: &[Source]) {
    for source in sources {
        let found = store.sources().find_owned(source.user_id, source.id).await.unwrap();
        assert_eq!(&found.unwrap().record, source);
    }
}

pub(crate) async fn a_rotation_wraps_every_key_anew(bench: Bench) {
    let vault = vault(&bench).await;
    let store = bench.store.clone().sealed_by(vault.clone());
    let mut sources = many(&bench, &store).await;
    let cursors = vault.derive("cursors");
    let rotated = vault.rotate(Some(MasterKey::new(&NEW)), |_| {}).await.unwrap();
    assert_eq!((rotated.rewrapped, rotated.already), (41, 0), "theirs and the installation's");
    assert_ne!(vault.derive("cursors"), cursors);
    // Whoever did it goes on, with old accounts and new ones.
    sources.extend(many(&bench, &store).await);
    assert_readable(&store, &sources).await;
    // Whoever starts needs the new key and nothing else.
    let refused = Vault::open(&bench.store, keys(OLD, &[])).await.unwrap_err();
    assert!(matches!(refused, VaultError::WrongKey { .. }), "{refused:?}");
    let next = Arc::new(Vault::open(&bench.store, keys(NEW, &[])).await.unwrap());
    assert_readable(&bench.store.clone().sealed_by(next.clone()), &sources).await;
    let again = next.rotate(None, |_| {}).await.unwrap();
    assert_eq!((again.rewrapped, again.already), (0, 81));
}

pub(crate) async fn a_rotation_that_was_interrupted_is_noticed_and_finished(bench: Bench) {
    let vault = vault(&bench).await;
    let store = bench.store.clone().sealed_by(vault.clone());
    let sources = many(&bench, &store).await;
    let enough = Notify::new();
    let rotating = vault.rotate(Some(MasterKey::new(&NEW)), |rotated| {
        if rotated.rewrapped == 10 {
            enough.notify_one();
        }
    });
    tokio::select! {
        biased;
        () = enough.notified() => {}
        rotated = rotating => panic!("it was not interrupted: {rotated:?}"),
    }
    let alone = Vault::open(&bench.store, keys(OLD, &[])).await.unwrap_err();
    assert!(matches!(alone, VaultError::WrongKey { .. }), "{alone:?}");
    let alone = Vault::open(&bench.store, keys(NEW, &[])).await.unwrap_err();
    assert!(matches!(alone, VaultError::Unfinished { .. }), "{alone:?}");
    let both = Arc::new(Vault::open(&bench.store, keys(NEW, &[OLD])).await.unwrap());
    assert_readable(&bench.store.clone().sealed_by(both.clone()), &sources).await;
    // Also when it is begun again by someone to whom the new key is new.
    let resumed = Vault::open(&bench.store, keys(OLD, &[NEW])).await.unwrap();
    let rotated = resumed.rotate(Some(MasterKey::new(&NEW)), |_| {}).await.unwrap();
    assert_eq!(rotated.rewrapped + rotated.already, 41);
    assert!((20..=31).contains(&rotated.rewrapped), "{rotated:?}");
    let only = Arc::new(Vault::open(&bench.store, keys(NEW, &[])).await.unwrap());
    assert_readable(&bench.store.clone().sealed_by(only), &sources).await;
    let own = bench.store.data_keys().find(INSTALLATION).await.unwrap().unwrap();
    assert_eq!(own.former_master_ids, [] as [String; 0]);
}
