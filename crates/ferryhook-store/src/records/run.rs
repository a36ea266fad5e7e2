//! Runs, under their source. Their ids sort by time.

use ferryhook_core::{Id, Run, Source};

use super::word;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) fn key(of: Id<Source>, id: Id<Run>) -> Key {
    Key::new(Table::Runs, of.as_str(), id.as_str())
}

impl Record for Run {
    const KIND: Kind = Kind::Run;

    fn key(&self) -> Key {
        key(self.source_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let started = self.started_at.as_seconds();
        vec![IndexKey::new(Index::RunStatus, word(self.status), started)]
    }
}
