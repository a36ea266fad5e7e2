//! Keys: where a row lives, and where its index entries do.

use std::fmt;

use ferryhook_core::limits;
use serde::Deserialize;

use crate::StoreError;
use crate::tables::{Index, KeyAttribute, Table};

/// One half of a key. Text sorts by its UTF-8 bytes, numbers by value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(untagged)]
pub enum Part {
    Number(i64),
    Text(String),
}

/// The name of one row: its table, its partition, and its place there if the table sorts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub table: Table,
    pub partition: String,
    pub sort: Option<String>,
}

/// One entry that a row has in an index of its table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexKey {
    pub index: Index,
    pub partition: Part,
    pub sort: Option<Part>,
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Part {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl Part {
    fn check(&self, attribute: &KeyAttribute, bytes_max: usize) -> Result<(), StoreError> {
        let name = attribute.name;
        match (self, attribute.numeric) {
            (Self::Number(_), true) => Ok(()),
            (Self::Text(text), false) => check_text(text, attribute, bytes_max),
            (_, true) => Err(StoreError::Malformed(format!("{name} is a number"))),
            (_, false) => Err(StoreError::Malformed(format!("{name} is text"))),
        }
    }
}

fn check_text(text: &str, attribute: &KeyAttribute, bytes_max: usize) -> Result<(), StoreError> {
    let name = attribute.name;
    if text.is_empty() {
        return Err(StoreError::Malformed(format!("the key attribute {name} is empty")));
    }
    if text.len() > bytes_max {
        let what = format!("the key attribute {name} is longer than {bytes_max} bytes");
        return Err(StoreError::OutOfBounds(what));
    }
    Ok(())
}

impl Key {
    pub fn new(table: Table, partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self { table, partition: partition.into(), sort: Some(sort.into()) }
    }

    /// A row of a table whose partitions hold one row each.
    pub fn alone(table: Table, partition: impl Into<String>) -> Self {
        Self { table, partition: partition.into(), sort: None }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let shape = self.table.shape();
        check_text(&self.partition, &shape.partition, limits::PARTITION_KEY_BYTES_MAX)?;
        let sort = both(self.table.name(), self.sort.as_deref(), shape.sort.as_ref())?;
        sort.map_or(Ok(()), |(sort, attribute)| {
            check_text(sort, attribute, limits::SORT_KEY_BYTES_MAX)
        })
    }
}

impl IndexKey {
    pub fn new(index: Index, partition: impl Into<Part>, sort: impl Into<Part>) -> Self {
        Self { index, partition: partition.into(), sort: Some(sort.into()) }
    }

    pub fn alone(index: Index, partition: impl Into<Part>) -> Self {
        Self { index, partition: partition.into(), sort: None }
    }

    pub(crate) fn check(&self, table: Table) -> Result<(), StoreError> {
        let shape = self.index.shape();
        if self.index.table() != table {
            let (index, table) = (shape.name, table.name());
            return Err(StoreError::Malformed(format!("{table} has no index {index}")));
        }
        self.partition.check(&shape.partition, limits::PARTITION_KEY_BYTES_MAX)?;
        let sort = both(shape.name, self.sort.as_ref(), shape.sort.as_ref())?;
        sort.map_or(Ok(()), |(sort, attribute)| sort.check(attribute, limits::SORT_KEY_BYTES_MAX))
    }
}

/// A sort key where one is declared, and none where none is.
fn both<'a, T: ?Sized>(
    of: &str,
    sort: Option<&'a T>,
    attribute: Option<&'a KeyAttribute>,
) -> Result<Option<(&'a T, &'a KeyAttribute)>, StoreError> {
    match (sort, attribute) {
        (None, None) => Ok(None),
        (Some(sort), Some(attribute)) => Ok(Some((sort, attribute))),
        (None, Some(attribute)) => {
            Err(StoreError::Malformed(format!("{of} needs the sort key {}", attribute.name)))
        }
        (Some(_), None) => Err(StoreError::Malformed(format!("{of} has no sort key"))),
    }
}

/// For errors and logs: `ferryhook-main/USER#usr_.../PROFILE`, without the configured prefix.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.table.name(), self.partition)?;
        match &self.sort {
            Some(sort) => write!(f, "/{sort}"),
            None => Ok(()),
        }
    }
}
