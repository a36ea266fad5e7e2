//! Activities, under their account. Their ids sort by time.

use ferryhook_core::Activity;

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

impl Record for Activity {
    const KIND: Kind = Kind::Activity;
    /// 2 has `lineNumber`.
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        Key::new(Table::Activities, self.account_id.as_str(), self.id.as_str())
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let at = self.at.as_seconds();
        let by_user =
            self.user_id.map(|user| IndexKey::new(Index::ActivityUser, user.as_str(), at));
        let by_type = IndexKey::new(Index::ActivityType, &*self.event_type, at);
        by_user.into_iter().chain([by_type]).collect()
    }
}
