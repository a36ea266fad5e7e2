//! Home: the account that somebody is in when they name none.
//!
//! Only while they have a place there. Whoever was removed or suspended is at home elsewhere from
//! then on, in an account they are still in, or nowhere: the name of the old one, and what they do
//! about themselves, is no longer between the two.

use ferryhook_core::{User, account, member};
use ferryhook_store::Slice;
use ferryhook_store::repositories::Standing;

use crate::call::ApiResult;
use crate::limits;
use crate::router::App;

/// Where they are at home, as they stand there. One that has changed is stored.
pub(crate) async fn of(app: &App, user: &User) -> ApiResult<Option<Standing>> {
    let members = app.store.members();
    if let Some(standing) = members.standing(user.id, user.default_account_id).await? {
        return Ok(Some(standing));
    }
    let slice = Slice::default().limit(limits::PAGE_MAX);
    let places = members.list_by_user(user.id, slice).await?.rows;
    let mut found = None;
    for place in places.iter().filter(|place| place.status == member::Status::Active) {
        let Some(standing) = members.standing(user.id, place.account_id).await? else { continue };
        let is_open = standing.status == account::Status::Active;
        if is_open || found.is_none() {
            found = Some(standing);
        }
        if is_open {
            break;
        }
    }
    if let Some(standing) = &found {
        members.make_default(user.id, standing.account.id).await?;
    }
    Ok(found)
}
