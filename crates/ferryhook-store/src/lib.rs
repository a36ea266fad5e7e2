//! The store: records, what may be done with them, and the engines that keep them.
//!
//! From the top: repositories speak the domain's verbs ([`Store`]); each verb is one [`Batch`],
//! committed as a whole; an [`Engine`] does three things, get, query and commit, and there are
//! three of it (memory, embedded, dynamo) that pass the same suite. A [`Record`] says in one
//! place how a noun of the domain is keyed, indexed and expired.
//!
//! No HTTP here, and no engine's own types outside `engine/`.

pub mod batch;
mod chains;
pub mod changes;
pub mod engine;
pub mod error;
pub mod key;
mod note;
pub mod query;
pub mod record;
pub mod records;
pub mod repositories;
pub mod schema;
pub mod search;
pub mod store;
pub mod tables;
pub mod value;
pub mod vault;

pub use batch::{Batch, Condition, Durability};
pub use changes::{Change, Changes, ChangesError, Place, Start, Wanted, What};
pub use engine::Engine;
pub use error::StoreError;
pub use key::{IndexKey, Key, Part};
pub use query::{Cursor, Order, Page, Query};
pub use record::{Kind, Record, Stored};
pub use records::{Shard, Unique};
pub use repositories::{Slice, UniqueError, Window};
pub use search::Search;
pub use store::Store;
pub use tables::{Index, Table};
pub use value::{Item, Value};
pub use vault::{MasterKeys, Vault, VaultError};
