//! Keys of access tokens.

use ferryhook_core::TokenKey;

use super::Slice;
use crate::query::{Order, Query};
use crate::record::Kind;
use crate::records::token_key;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct TokenKeys<'a>(pub(crate) &'a Store);

impl TokenKeys<'_> {
    pub async fn create(&self, key: &TokenKey) -> Result<(), StoreError> {
        self.0.insert(key).await
    }

    /// The newest first. There is one for each month, and a page of them would last for years.
    pub async fn list(&self) -> Result<Vec<TokenKey>, StoreError> {
        let query = Query::table(Kind::TokenKey, token_key::PARTITION);
        let slice = Slice { order: Order::Descending, ..Slice::default() };
        let page = self.0.list::<TokenKey>(slice.of(query)).await?;
        Ok(page.rows.into_iter().map(|row| row.record).collect())
    }
}
