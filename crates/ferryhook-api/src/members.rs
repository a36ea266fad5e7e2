//! Members: who is in an account, as what, and with which exceptions.
//!
//! Nobody hands out more than they have: not a higher role, not an exception for something that
//! they may not do themselves, and nobody changes one who is above them.

pub mod view;

use std::collections::BTreeMap;

use axum::extract::State;
use ferryhook_core::member::{Role, Status};
use ferryhook_core::{Account, Id, Map, Member, User, limits, permission};
use ferryhook_store::repositories::MemberError;
use ferryhook_store::{Page, Stored};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Condition, Done, In, Listed, Sent, Tagged};
use crate::caller::{Caller, Person};
use crate::operations;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::route::Access;
use crate::router::App;
use crate::visit::{self, Deed};

pub use view::MemberView;

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MembersQuery {
    /// Only those with this role.
    #[param(inline)]
    role: Option<Role>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// What is to be different about a member.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberChange {
    role: Option<Role>,
    /// Exceptions to the role: an operation, or a noun such as `sources.*`, and whether it is
    /// allowed. Takes the place of all that were there.
    permissions: Option<BTreeMap<String, bool>>,
    /// `suspended` keeps the place and closes it.
    status: Option<MemberStanding>,
}

/// What people may make of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberStanding {
    Active,
    Suspended,
}

pub async fn list(
    State(app): State<App>,
    _caller: Caller,
    In(account): In<Id<Account>>,
    Asked(query): Asked<MembersQuery>,
) -> ApiResult<Listed<MemberView>> {
    let list = app.cursors.of("members.list", account, &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.members().list_by_account(account, query.role, slice).await?;
    let Page { rows: members, next } = page;
    let mut rows = Vec::with_capacity(members.len());
    for member in members {
        rows.push(view_of(&app, &member).await?);
    }
    Ok(Listed(list.page(Page { rows, next }, |row| row)))
}

pub async fn show(
    State(app): State<App>,
    _caller: Caller,
    In((account, user)): In<(Id<Account>, Id<User>)>,
) -> ApiResult<Tagged<MemberView>> {
    let member = find(&app, user, account).await?;
    Ok(view_of(&app, &member).await?.tagged())
}

pub async fn change(
    State(app): State<App>,
    caller: Caller,
    In((account, user)): In<(Id<Account>, Id<User>)>,
    condition: Condition,
    Sent(body): Sent<MemberChange>,
) -> ApiResult<Tagged<MemberView>> {
    let was = find(&app, user, account).await?;
    let before = view_of(&app, &was).await?;
    condition.allows(&before.tag())?;
    not_above(&caller, was.role)?;
    let now = changed(&caller, &was, body)?;
    if now == was.record {
        caller.nothing_changed();
        return Ok(before.tagged());
    }
    let after = before.clone().with(&now);
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "member_updated", "member", user.as_str(), details);
    store.members().replace(&was, now).await?;
    Ok(after.tagged())
}

pub async fn remove(
    State(app): State<App>,
    caller: Caller,
    In((account, user)): In<(Id<Account>, Id<User>)>,
) -> ApiResult<Done> {
    let was = find(&app, user, account).await?;
    not_above(&caller, was.role)?;
    let before = view_of(&app, &was).await?;
    let details = visit::details(Some(&before), None::<&MemberView>);
    let store = caller.noting(&app, "member_removed", "member", user.as_str(), details);
    store.members().remove(&was).await?;
    Ok(Done)
}

/// Everybody may go, but for the last administrator.
pub async fn leave(
    State(app): State<App>,
    person: Person,
    In(account): In<Id<Account>>,
) -> ApiResult<Done> {
    let was = find(&app, person.id(), account).await?;
    let before = view_of(&app, &was).await?;
    let details = visit::details(Some(&before), None::<&MemberView>);
    let id = person.id();
    let deed = Deed { event_type: "member_left", resource: "member", id: id.as_str(), details };
    let store = person.visit.noting(&app, account, Some(id), deed);
    store.members().remove(&was).await?;
    Ok(Done)
}

async fn find(app: &App, user: Id<User>, account: Id<Account>) -> Result<Stored<Member>, Problem> {
    app.store.members().find(user, account).await?.ok_or_else(Problem::not_found)
}

async fn view_of(app: &App, member: &Member) -> Result<MemberView, Problem> {
    let user = app.store.users().find(member.user_id).await?;
    Ok(MemberView::of(member, user.as_deref()))
}

/// The member as the change would have it, if the caller may make it.
fn changed(caller: &Caller, was: &Member, body: MemberChange) -> Result<Member, Problem> {
    let mut now = was.clone();
    let is_oneself = caller.user() == was.user_id;
    if let Some(role) = body.role {
        may_give(caller, role)?;
        now.role = role;
    }
    if let Some(status) = body.status {
        now.status = match status {
            MemberStanding::Active => Status::Active,
            MemberStanding::Suspended => Status::Suspended,
        };
        if is_oneself && now.status != was.status {
            return Err(Problem::new(Code::Forbidden, "Nobody can suspend themselves."));
        }
    }
    if let Some(permissions) = body.permissions {
        if is_oneself {
            let said = "Somebody else has to make exceptions for you.";
            return Err(Problem::new(Code::Forbidden, said));
        }
        now.permissions = exceptions(caller, permissions)?;
        gives_nothing_back(caller, was, &now.permissions)?;
        if now.role == Role::Admin && !now.permissions.is_empty() {
            let said = "An administrator may do everything; there are no exceptions.";
            return Err(Problem::invalid("/permissions", said));
        }
    }
    if now.role == Role::Admin {
        now.permissions = Map::new();
    }
    Ok(now)
}

fn exceptions(caller: &Caller, wanted: BTreeMap<String, bool>) -> Result<Map, Problem> {
    let most = limits::EXCEPTIONS_MAX;
    if wanted.len() > most {
        let said = format!("may have at most {most} exceptions");
        return Err(Problem::invalid("/permissions", said));
    }
    for (pattern, allowed) in &wanted {
        let pointer = format!("/permissions/{}", pattern.replace('~', "~0").replace('/', "~1"));
        for (operation, access) in operations::meant(pattern, &pointer)? {
            let Access::Role(needed) = access else { continue };
            if *allowed && !caller.may(needed, operation) {
                let said = format!("You may not do {operation} yourself.");
                return Err(Problem::new(Code::Forbidden, said));
            }
        }
    }
    Ok(wanted.into_iter().map(|(pattern, allowed)| (pattern, allowed.into())).collect())
}

/// What was taken from somebody is given back only by one who has it.
fn gives_nothing_back(caller: &Caller, was: &Member, now: &Map) -> Result<(), Problem> {
    for (operation, access) in operations::known() {
        let Access::Role(needed) = *access else { continue };
        let gains = permission::may(was.role, now, needed, operation)
            && !permission::may(was.role, &was.permissions, needed, operation);
        if gains && !caller.may(needed, operation) {
            let said = format!("You may not do {operation} yourself.");
            return Err(Problem::new(Code::Forbidden, said));
        }
    }
    Ok(())
}

/// Nobody hands out what they do not have: neither a role above their own, nor one that may do
/// what was taken from them, or what the key they use is not for.
pub(crate) fn may_give(caller: &Caller, role: Role) -> Result<(), Problem> {
    not_above(caller, role)?;
    for (operation, access) in operations::known() {
        if let Access::Role(needed) = *access
            && needed <= role
            && !caller.may(needed, operation)
        {
            let said = format!("Not allowed: {role} may do {operation}, and you may not.");
            return Err(Problem::new(Code::Forbidden, said));
        }
    }
    Ok(())
}

/// A role cannot hand out, change or remove one above itself.
pub(crate) fn not_above(caller: &Caller, role: Role) -> Result<(), Problem> {
    match role <= caller.role() {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            format!("Not allowed: {role} is above your role, which is {}.", caller.role()),
        )),
    }
}

impl From<MemberError> for Problem {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::Store(error) => error.into(),
            MemberError::LastAdmin | MemberError::AdminSuspended => {
                Self::new(Code::Conflict, format!("Not done: {error}."))
            }
        }
    }
}

#[cfg(test)]
mod tests;
