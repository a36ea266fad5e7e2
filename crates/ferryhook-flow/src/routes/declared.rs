//! What the owner of a source has declared about types of events, ready to be checked.
//!
//! Compiled once for an account: its sources share it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ferryhook_core::event_type::declared::{Budget, Compiled, Mismatch, TooLong};
use ferryhook_core::event_type::{Declared, Mode};
use ferryhook_core::limits::DECLARED_PER_ACCOUNT_MAX;
use ferryhook_core::{Account, Id};
use ferryhook_store::{Slice, Store, StoreError};
use serde_json::Value;

use super::limits;

/// By type.
#[derive(Debug, Default)]
pub struct Declarations(HashMap<String, Arc<Declaration>>);

#[derive(Debug)]
pub struct Declaration {
    declared: Declared,
    compiled: Compiled,
}

impl Declarations {
    pub(crate) fn find(&self, event_type: Option<&str>) -> Option<&Arc<Declaration>> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get(event_type?),
        }
    }

    fn is_same(&self, declared: &[(String, Declared)]) -> bool {
        let same = |(name, declared): &(String, Declared)| {
            self.0.get(name).is_some_and(|known| known.says(declared))
        };
        self.0.len() == declared.len() && declared.iter().all(same)
    }
}

impl Declaration {
    pub(crate) fn mode(&self) -> Mode {
        self.declared.mode
    }

    fn says(&self, other: &Declared) -> bool {
        self.declared.schema == other.schema && self.declared.mode == other.mode
    }

    /// How many steps a check of this takes, which are spent.
    pub(crate) fn spend(&self, content: &Value, budget: &mut Budget) -> Result<usize, TooLong> {
        self.compiled.spend(content, budget)
    }

    /// Where it is not as declared. Whoever asks has paid for it.
    pub(crate) fn mismatches(&self, content: &Value) -> Vec<Mismatch> {
        self.compiled.mismatches(content)
    }
}

/// What is no JSON is not as declared, whatever is.
pub(crate) fn no_json() -> Mismatch {
    Mismatch { pointer: String::new(), reason: "it is not JSON".to_owned() }
}

/// What is in use, by account.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<HashMap<Id<Account>, Weak<Declarations>>>);

impl Shared {
    /// As the store has them now.
    pub(super) async fn load(
        &self,
        store: &Store,
        account: Id<Account>,
    ) -> Result<Arc<Declarations>, StoreError> {
        let declared = listed(store, account).await?;
        let known = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(&account).and_then(Weak::upgrade)
        };
        if let Some(known) = known.as_ref().filter(|known| known.is_same(&declared)) {
            return Ok(known.clone());
        }
        if declared.is_empty() {
            return Ok(Arc::default());
        }
        // Patterns can take their time.
        let make = move || Arc::new(compiled(declared, known.as_deref(), account));
        let made = tokio::task::spawn_blocking(make).await.map_err(|error| {
            StoreError::Unavailable(format!("a schema cannot be compiled: {error}"), None)
        })?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= limits::ROUTES_MAX {
            known.retain(|_, declarations| declarations.strong_count() > 0);
        }
        known.insert(account, Arc::downgrade(&made));
        Ok(made)
    }
}

fn compiled(
    declared: Vec<(String, Declared)>,
    known: Option<&Declarations>,
    account: Id<Account>,
) -> Declarations {
    let mut made = HashMap::new();
    for (name, declared) in declared {
        let before = known.and_then(|known| known.0.get(&name));
        if let Some(same) = before.filter(|before| before.says(&declared)) {
            made.insert(name, same.clone());
            continue;
        }
        match declared.compile() {
            Ok(compiled) => {
                made.insert(name, Arc::new(Declaration { declared, compiled }));
            }
            // Its events are worth more than the mistake.
            Err(error) => {
                tracing::warn!(%error, account.id = %account, "a declared schema does not count");
            }
        }
    }
    Declarations(made)
}

async fn listed(
    store: &Store,
    account: Id<Account>,
) -> Result<Vec<(String, Declared)>, StoreError> {
    let mut found = Vec::new();
    let mut slice = Slice::default().limit(DECLARED_PER_ACCOUNT_MAX);
    loop {
        let page = store.event_types().list_declared(account, slice.clone()).await?;
        let rows = page.rows.into_iter().map(|row| row.record);
        found.extend(rows.filter_map(|row| Some((row.name, row.declared?))));
        if page.next.is_none() || found.len() >= DECLARED_PER_ACCOUNT_MAX {
            return Ok(found);
        }
        slice = slice.after(page.next);
    }
}
