use super::*;
use crate::engine::memory::Memory;
use ferryhook_core::{Env, limits};

/// However many owners there are, memory holds the keys of so many, and the others still work.
#[tokio::test]
async fn keys_in_memory_have_a_bound() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let store = Store::new(Arc::new(Memory::new(env.clone())), env.clone());
    let masters = MasterKeys { current: MasterKey::generate(&env), former: Vec::new() };
    let vault = Vault::open(&store, masters).await.unwrap();
    let first = vault.cipher_for("acc_0").await.unwrap();
    for number in 1..=limits::DATA_KEYS_IN_MEMORY_MAX {
        vault.keyring.keep(&format!("acc_{number}"), first.clone());
    }
    assert_eq!(vault.keyring.len(), limits::DATA_KEYS_IN_MEMORY_MAX);
    assert!(vault.keyring.find("acc_0").is_none());
    let again = vault.cipher_of(Kind::Source, "acc_0").await.unwrap();
    assert_eq!(again.id(), first.id());
    assert_eq!(vault.keyring.len(), limits::DATA_KEYS_IN_MEMORY_MAX);
}
