//! Who may do what: roles, the exceptions to them, and the scope of keys.
//!
//! Asked before every operation, by its id (`sources.create`). It only compares: who someone is,
//! and in which account, was found out before. What it does not know it refuses.

use serde_json::Value;

use crate::key::Permissions;
use crate::member::Role;
use crate::{Key, Map};

/// Why the answer is no. For people: what a program may rely on is that it is no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("this needs the role {needed}, and yours is {has}")]
    Role { has: Role, needed: Role },
    #[error("this was taken from what your role allows")]
    Exception,
    #[error("this needs a key with the permission {needed}, and this one has {has}")]
    Scope { has: Permissions, needed: Permissions },
    #[error("this is not among the operations of the key")]
    NotListed,
}

/// Whether one with this role, and these exceptions to it, may do the operation.
pub fn may(role: Role, exceptions: &Map, needed: Role, operation: &str) -> bool {
    check(role, exceptions, needed, operation).is_ok()
}

/// As [`may`], with the reason. Against an administrator no exception counts: one who hands out
/// permissions could give it back to themselves, and an account must not lock itself.
pub fn check(role: Role, exceptions: &Map, needed: Role, operation: &str) -> Result<(), Refused> {
    match exception(exceptions, operation) {
        _ if role == Role::Admin => Ok(()),
        Some(true) => Ok(()),
        Some(false) => Err(Refused::Exception),
        None if role >= needed => Ok(()),
        None => Err(Refused::Role { has: role, needed }),
    }
}

/// Whether the key, for itself, may do the operation. What its owner may is a second question:
/// a key never opens more than whoever made it could.
pub fn key_may(key: &Key, needed: Role, operation: &str) -> bool {
    check_key(key, needed, operation).is_ok()
}

/// As [`key_may`], with the reason.
pub fn check_key(key: &Key, needed: Role, operation: &str) -> Result<(), Refused> {
    if key.permissions.role() < needed {
        return Err(Refused::Scope { has: key.permissions, needed: Permissions::giving(needed) });
    }
    match &key.operations {
        Some(listed) if !listed.iter().any(|pattern| matches(pattern, operation)) => {
            Err(Refused::NotListed)
        }
        _ => Ok(()),
    }
}

/// Whether the pattern, an operation or a whole noun such as `sources.*`, means this operation.
pub fn matches(pattern: &str, operation: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(noun) => {
            noun.ends_with('.') && operation.len() > noun.len() && operation.starts_with(noun)
        }
        None => pattern == operation,
    }
}

/// What the exceptions say of an operation. The longest pattern counts, so that one operation can
/// be told apart from its noun. Anything but `true` is a no.
fn exception(exceptions: &Map, operation: &str) -> Option<bool> {
    let said = exceptions.iter().filter(|(pattern, _)| matches(pattern, operation));
    let (_, value) = said.max_by_key(|(pattern, _)| pattern.len())?;
    Some(*value == Value::Bool(true))
}

impl Permissions {
    /// The role that a key of this scope has.
    pub fn role(self) -> Role {
        match self {
            Self::Read => Role::Viewer,
            Self::Write => Role::Member,
            Self::Admin => Role::Admin,
        }
    }

    /// The least scope that gives this role.
    pub fn giving(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Read,
            Role::Member => Self::Write,
            Role::Manager | Role::Admin => Self::Admin,
        }
    }
}

#[cfg(test)]
mod tests;
