//! Schedules, under their source. The index has a partition for each minute in which one is due,
//! and DynamoDB keeps the paused ones in it as well, so whoever asks for a minute passes over them.

use ferryhook_core::{Id, Schedule, Source};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) fn key(of: Id<Source>, id: Id<Schedule>) -> Key {
    Key::new(Table::Schedules, of.as_str(), id.as_str())
}

impl Record for Schedule {
    const KIND: Kind = Kind::Schedule;

    fn key(&self) -> Key {
        key(self.source_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.next_run_at.as_seconds();
        vec![IndexKey::alone(Index::ScheduleNextRun, due)]
    }
}
