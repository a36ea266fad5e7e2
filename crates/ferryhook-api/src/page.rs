//! Pages of a list: what every list takes and gives.

use ferryhook_store::Slice;
use ferryhook_store::query::Order;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits;
use crate::problem::Problem;

/// One page.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub data: Vec<T>,
    /// There may be more behind this page.
    pub has_more: bool,
    /// Where the next page begins. A cursor counts for the list and the filters it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

impl<T> Page<T> {
    /// All there is.
    pub fn whole(data: Vec<T>) -> Self {
        Self { data, has_more: false, cursor: None }
    }
}

/// Newest or oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    Asc,
    #[default]
    Desc,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Asc => Order::Ascending,
            Sort::Desc => Order::Descending,
        }
    }
}

/// How many of a list are wanted at once.
pub fn limit(asked: Option<u32>) -> Result<usize, Problem> {
    let most = limits::PAGE_MAX;
    match asked.map_or(limits::PAGE_DEFAULT, |limit| limit as usize) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        _ => Err(Problem::invalid("limit", format!("must be between 1 and {most}"))),
    }
}

/// What the store is asked for.
pub fn slice(
    limit: Option<u32>,
    after: Option<ferryhook_store::Cursor>,
    sort: Sort,
) -> Result<Slice, Problem> {
    Ok(Slice { limit: self::limit(limit)?, after, order: sort.into() })
}
