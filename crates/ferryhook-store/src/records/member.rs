//! Members: a user's accounts in the table, an account's users in its index.

use ferryhook_core::{Account, Id, Member, User};

use super::word;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) fn key(user: Id<User>, account: Id<Account>) -> Key {
    Key::new(Table::Members, user.as_str(), account.as_str())
}

impl Record for Member {
    const KIND: Kind = Kind::Member;

    fn key(&self) -> Key {
        key(self.user_id, self.account_id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.as_str();
        vec![IndexKey::new(Index::MemberRole, account, word(self.role))]
    }
}
