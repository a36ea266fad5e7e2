//! What people call things.

use ferryhook_core::limits;

use crate::problem::Problem;

/// The name without blanks around it, if it can be one.
pub fn checked(pointer: &str, name: &str) -> Result<String, Problem> {
    let (name, most) = (name.trim(), limits::NAME_CHARACTERS_MAX);
    if name.is_empty() || name.chars().count() > most {
        return Err(Problem::invalid(pointer, format!("must have 1 to {most} characters")));
    }
    if name.chars().any(char::is_control) {
        return Err(Problem::invalid(pointer, "must not have control characters"));
    }
    Ok(name.to_owned())
}
