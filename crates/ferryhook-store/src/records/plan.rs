//! Plans, each in a partition of its own, and all of them in one catalogue so that they can be
//! listed.

use ferryhook_core::Plan;

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const CATALOGUE: &str = "plans";

pub(crate) fn key(id: &str) -> Key {
    Key::alone(Table::Plans, id)
}

impl Record for Plan {
    const KIND: Kind = Kind::Plan;

    fn key(&self) -> Key {
        key(&self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        vec![IndexKey::new(Index::PlanCatalogue, CATALOGUE, &*self.id)]
    }
}
