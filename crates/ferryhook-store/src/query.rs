//! A question to one partition of a table or of one of its indexes.

use ferryhook_core::limits;

use crate::StoreError;
use crate::key::{IndexKey, Key, Part};
use crate::record::Kind;
use crate::tables::{Index, KeyAttribute, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest sort key first: oldest first where the key is a time.
    Ascending,
    Descending,
}

/// Which of a partition's sort keys are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    All,
    Prefix(String),
    /// Both ends included; an absent end is open.
    Between(Option<Part>, Option<Part>),
}

/// The last row of a page: the next page starts behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub key: Key,
    /// The row's entry in the index that was asked.
    pub entry: Option<IndexKey>,
}

impl Cursor {
    /// For whoever keeps it outside the process. Not secret, and not proof against change.
    pub fn to_text(&self) -> String {
        let part = |part: &Part| match part {
            Part::Number(number) => serde_json::Value::from(*number),
            Part::Text(text) => text.as_str().into(),
        };
        let entry = self.entry.as_ref().map(|entry| {
            let index = Index::ALL.iter().position(|index| *index == entry.index);
            serde_json::json!([index, part(&entry.partition), entry.sort.as_ref().map(part)])
        });
        let table = Table::ALL.iter().position(|table| *table == self.key.table);
        serde_json::json!([table, self.key.partition, self.key.sort, entry]).to_string()
    }

    pub fn from_text(text: &str) -> Option<Self> {
        type Entry = (usize, Part, Option<Part>);
        let (table, partition, sort, entry): (usize, String, Option<String>, Option<Entry>) =
            serde_json::from_str(text).ok()?;
        let key = Key { table: *Table::ALL.get(table)?, partition, sort };
        let entry = match entry {
            Some((index, partition, sort)) => {
                Some(IndexKey { index: *Index::ALL.get(index)?, partition, sort })
            }
            None => None,
        };
        Some(Self { key, entry })
    }
}

#[derive(Debug, Clone)]
pub struct Page<T> {
    pub rows: Vec<T>,
    /// Present while there may be more.
    pub next: Option<Cursor>,
}

#[derive(Debug, Clone)]
pub struct Query {
    pub table: Table,
    pub index: Option<Index>,
    pub partition: Part,
    pub range: Range,
    pub order: Order,
    pub limit: usize,
    pub after: Option<Cursor>,
    /// Rows of other kinds in the same partition are passed over.
    pub kind: Kind,
}

impl Query {
    pub fn table(kind: Kind, partition: impl Into<String>) -> Self {
        Self::new(kind, None, Part::Text(partition.into()))
    }

    pub fn index(kind: Kind, index: Index, partition: impl Into<Part>) -> Self {
        Self::new(kind, Some(index), partition.into())
    }

    fn new(kind: Kind, index: Option<Index>, partition: Part) -> Self {
        Self {
            table: kind.table(),
            index,
            partition,
            range: Range::All,
            order: Order::Ascending,
            limit: limits::PAGE_DEFAULT,
            after: None,
            kind,
        }
    }

    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.range = Range::Prefix(prefix.into());
        self
    }

    pub fn between(mut self, from: Option<Part>, to: Option<Part>) -> Self {
        self.range = Range::Between(from, to);
        self
    }

    /// Exactly this sort key.
    pub fn exactly(self, sort: impl Into<Part>) -> Self {
        let sort = sort.into();
        self.between(Some(sort.clone()), Some(sort))
    }

    pub fn newest_first(mut self) -> Self {
        self.order = Order::Descending;
        self
    }

    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    pub fn after(mut self, cursor: Option<Cursor>) -> Self {
        self.after = cursor;
        self
    }

    /// Refuses what the declaration of the table or index does not allow. Engines start here.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.limit == 0 || self.limit > limits::PAGE_MAX {
            let max = limits::PAGE_MAX;
            return Err(StoreError::OutOfBounds(format!("a page has 1 to {max} rows")));
        }
        let (name, partition, sort) = match self.index {
            Some(index) if index.table() != self.table => {
                let (index, table) = (index.shape().name, self.table.name());
                return Err(StoreError::Malformed(format!("{table} has no index {index}")));
            }
            Some(index) => {
                let shape = index.shape();
                (shape.name, shape.partition, shape.sort)
            }
            None => {
                let shape = self.table.shape();
                (self.table.name(), shape.partition, shape.sort)
            }
        };
        fits(&self.partition, &partition)?;
        match (&self.range, sort) {
            (Range::All, _) => {}
            (_, None) => {
                return Err(StoreError::Malformed(format!("{name} has no sort key")));
            }
            (Range::Prefix(_), Some(sort)) if sort.numeric => {
                let sort = sort.name;
                return Err(StoreError::Malformed(format!("{sort} is a number: it has no prefix")));
            }
            (Range::Prefix(_), Some(_)) => {}
            (Range::Between(from, to), Some(sort)) => {
                for end in [from, to].into_iter().flatten() {
                    fits(end, &sort)?;
                }
            }
        }
        match &self.after {
            Some(cursor) if !self.is_passed_by(cursor) => Err(foreign_cursor()),
            Some(cursor) => {
                cursor.key.check()?;
                cursor.entry.iter().try_for_each(|entry| entry.check(self.table))
            }
            None => Ok(()),
        }
    }

    /// Whether the cursor can be a row of this list. One from another partition would show a
    /// stranger's place in the order, and DynamoDB refuses it.
    fn is_passed_by(&self, cursor: &Cursor) -> bool {
        if cursor.key.table != self.table {
            return false;
        }
        match (self.index, &cursor.entry) {
            (None, None) => {
                let sort = cursor.key.sort.clone().map(Part::Text);
                self.partition == Part::Text(cursor.key.partition.clone())
                    && self.range.contains(sort.as_ref())
            }
            (Some(index), Some(entry)) => {
                entry.index == index
                    && entry.partition == self.partition
                    && self.range.contains(entry.sort.as_ref())
            }
            _ => false,
        }
    }
}

impl Range {
    pub(crate) fn contains(&self, sort: Option<&Part>) -> bool {
        match (self, sort) {
            (Self::All, _) => true,
            (Self::Prefix(prefix), Some(Part::Text(sort))) => sort.starts_with(prefix),
            (Self::Between(from, to), Some(sort)) => {
                from.as_ref().is_none_or(|from| from <= sort)
                    && to.as_ref().is_none_or(|to| sort <= to)
            }
            _ => false,
        }
    }
}

fn fits(part: &Part, attribute: &KeyAttribute) -> Result<(), StoreError> {
    match matches!(part, Part::Number(_)) == attribute.numeric {
        true => Ok(()),
        false if attribute.numeric => {
            Err(StoreError::Malformed(format!("{} is a number", attribute.name)))
        }
        false => Err(StoreError::Malformed(format!("{} is text", attribute.name))),
    }
}

fn foreign_cursor() -> StoreError {
    StoreError::Malformed("the cursor belongs to another list".into())
}
