//! OAuth states: kept when a user leaves for a platform, taken when they come back.

use ferryhook_core::OauthState;

use crate::record::Stored;
use crate::records::oauth_state;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct OauthStates<'a>(pub(crate) &'a Store);

impl OauthStates<'_> {
    pub async fn create(&self, state: &OauthState) -> Result<(), StoreError> {
        self.0.insert(state).await
    }

    /// The state, once: whoever comes second, or too late, gets nothing.
    pub async fn take(&self, state: &str) -> Result<Option<OauthState>, StoreError> {
        let Some(was) = self.0.find::<OauthState>(&oauth_state::key(state)).await? else {
            return Ok(None);
        };
        let Stored { record, .. } = match self.0.delete(&was).await {
            Ok(()) => was,
            Err(error) if error.is_refused() => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(record).filter(|state| state.is_live(self.0.now())))
    }
}
