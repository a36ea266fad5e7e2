//! The operations there are, by the names that permissions and keys speak of.

use std::sync::LazyLock;

use ferryhook_core::permission;

use crate::problem::Problem;
use crate::route::Access;
use crate::router;

/// Every operation with who may do it.
pub fn known() -> &'static [(&'static str, Access)] {
    static KNOWN: LazyLock<Vec<(&str, Access)>> = LazyLock::new(|| {
        router::routes().iter().map(|route| (route.operation, route.access)).collect()
    });
    &KNOWN
}

/// Those that a pattern such as `sources.*` means. One that means nothing is a mistake, which
/// would else look like a permission.
pub fn meant(pattern: &str, pointer: &str) -> Result<Vec<(&'static str, Access)>, Problem> {
    let all = known().iter().copied();
    let meant: Vec<_> = all.filter(|(name, _)| permission::matches(pattern, name)).collect();
    match meant.is_empty() {
        true => Err(Problem::invalid(pointer, "is no operation; docs/access.md lists them")),
        false => Ok(meant),
    }
}
