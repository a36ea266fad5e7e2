//! Rows as DynamoDB items, and back.
//!
//! An item has the record's attributes under their own names, so that other readers of the
//! tables find what they expect; the key, the index entries and the expiry beside them, often
//! under the same names; and the envelope: `kind`, `shape`, `revision`, `derived`, `unlisted`.
//!
//! On the way back only the record's attributes are wanted. Most names of keys and indexes are
//! never a record's ([`never_a_records`]). The rest may be, so an item lists in `derived` those
//! that are not. When in doubt an attribute is kept: a record ignores what it does not know.
//!
//! The same sharing puts a row into an index as soon as its record has the index's attributes, a
//! paused schedule among the due ones. `unlisted` names the indexes it is not to be found in.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;

use crate::StoreError;
use crate::batch::Insert;
use crate::engine::Row;
use crate::key::{IndexKey, Key, Part};
use crate::query::Cursor;
use crate::record::Kind;
use crate::tables::{Index, KeyAttribute, Table};
use crate::value::{Item, Number, Value};

pub(super) type Attributes = HashMap<String, AttributeValue>;

pub(super) const KIND: &str = "kind";
pub(super) const SHAPE: &str = "shape";
pub(super) const REVISION: &str = "revision";
/// Names, among those that keys and records share, which the record itself does not have.
pub(super) const DERIVED: &str = "derived";
/// Indexes, among those that find rows by a record's own attributes, that shall not find this one.
pub(super) const UNLISTED: &str = "unlisted";

/// Of what has none; what we wrote begins with 1.
pub(super) const BARE_REVISION: u64 = 0;

const ENVELOPE: [&str; 5] = [KIND, SHAPE, REVISION, DERIVED, UNLISTED];

/// Names of keys, index entries and mirrors that no record of the table may use.
pub(super) const fn never_a_records(table: Table) -> &'static [&'static str] {
    match table {
        Table::Main => &["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"],
        Table::Events => &[
            "PK",
            "SK",
            "GSI1PK",
            "GSI1SK",
            "user_id",
            "timestamp#event_id",
            "event_type#timestamp",
            "status#timestamp",
            "pendingShard",
            "dueShard",
            "event_id",
            "timestamp",
            "ttl",
        ],
        Table::Notifications => &["isRead#createdAt"],
        Table::Plans => &["catalogue"],
        _ => &[],
    }
}

/// Names of the table's keys, indexes and expiry that its records may use as well.
pub(super) fn shared_names(table: Table) -> Vec<&'static str> {
    let shape = table.shape();
    let of_indexes = table.indexes().flat_map(index_names);
    let mut names: Vec<_> = [Some(shape.partition.name), shape.sort.map(|sort| sort.name)]
        .into_iter()
        .flatten()
        .chain(of_indexes)
        .chain(shape.expiry)
        .filter(|name| !never_a_records(table).contains(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(super) fn index_names(index: Index) -> impl Iterator<Item = &'static str> {
    let shape = index.shape();
    [Some(shape.partition.name), shape.sort.map(|sort| sort.name)].into_iter().flatten()
}

/// Whether a record alone, by its attributes, can get its row into this index.
pub(super) fn is_shared(index: Index) -> bool {
    index_names(index).all(|name| !never_a_records(index.table()).contains(&name))
}

/// The indexes to keep quiet about a row that has just these entries.
pub(super) fn unlisted(table: Table, entries: &[IndexKey]) -> Option<AttributeValue> {
    let names: Vec<_> = table
        .indexes()
        .filter(|index| is_shared(*index) && entries.iter().all(|entry| entry.index != *index))
        .map(|index| index.shape().name.to_owned())
        .collect();
    Some(AttributeValue::Ss(names)).filter(|set| set.as_ss().is_ok_and(|names| !names.is_empty()))
}

/// Refuses names that would be taken for something else on the way back.
pub(super) fn check_name(table: Table, name: &str) -> Result<(), StoreError> {
    match ENVELOPE.contains(&name) || never_a_records(table).contains(&name) {
        true => Err(StoreError::Malformed(format!(
            "a record in {} cannot have an attribute {name}",
            table.name()
        ))),
        false => Ok(()),
    }
}

pub(super) fn key_attributes(key: &Key) -> Vec<(&'static str, AttributeValue)> {
    let shape = key.table.shape();
    let partition = (shape.partition.name, AttributeValue::S(key.partition.clone()));
    let sort = shape.sort.zip(key.sort.clone());
    [partition]
        .into_iter()
        .chain(sort.map(|(attribute, sort)| (attribute.name, AttributeValue::S(sort))))
        .collect()
}

pub(super) fn key_of(key: &Key) -> Attributes {
    key_attributes(key).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(super) fn entry_attributes(entry: &IndexKey) -> Vec<(&'static str, AttributeValue)> {
    let shape = entry.index.shape();
    let sort = shape.sort.zip(entry.sort.as_ref());
    [(shape.partition.name, from_part(&entry.partition))]
        .into_iter()
        .chain(sort.map(|(attribute, sort)| (attribute.name, from_part(sort))))
        .collect()
}

/// Where DynamoDB goes on reading behind this row.
pub(super) fn start_of(cursor: &Cursor) -> Attributes {
    let mut start = key_of(&cursor.key);
    for (name, value) in cursor.entry.iter().flat_map(entry_attributes) {
        start.insert(name.to_owned(), value);
    }
    start
}

/// The place of an item, or of the last evaluated key, in the list that was asked.
pub(super) fn cursor_of(
    table: Table,
    index: Option<Index>,
    attributes: &Attributes,
) -> Result<Cursor, StoreError> {
    let shape = table.shape();
    let part = |attribute: KeyAttribute| {
        let part = attributes.get(attribute.name).and_then(to_part);
        part.ok_or_else(|| {
            let (table, name) = (table.name(), attribute.name);
            StoreError::Damaged(format!("an item in {table} has no usable {name}"))
        })
    };
    let text = |attribute: KeyAttribute| match part(attribute)? {
        Part::Text(text) => Ok(text),
        Part::Number(number) => Err(StoreError::Damaged(format!(
            "an item in {} has the number {number} for a key",
            table.name()
        ))),
    };
    let key =
        Key { table, partition: text(shape.partition)?, sort: shape.sort.map(text).transpose()? };
    let entry = index.map(|index| {
        let shape = index.shape();
        Ok::<_, StoreError>(IndexKey {
            index,
            partition: part(shape.partition)?,
            sort: shape.sort.map(part).transpose()?,
        })
    });
    Ok(Cursor { key, entry: entry.transpose()? })
}

/// The whole item of a new row.
pub(super) fn item_of(insert: &Insert) -> Result<Attributes, StoreError> {
    let table = insert.key.table;
    let mut attributes = Attributes::with_capacity(insert.item.len() + insert.content.len() + 16);
    for (name, value) in insert.item.iter().chain(insert.content.iter()) {
        check_name(table, name)?;
        attributes.insert(name.to_string(), from_value(value));
    }
    let derived: Attributes = shared_names(table)
        .into_iter()
        .chain(insert.mirror.iter().map(|(name, _)| &**name))
        .filter(|name| !never_a_records(table).contains(name) && !attributes.contains_key(*name))
        .map(|name| (name.to_owned(), AttributeValue::Bool(true)))
        .collect();

    for (name, value) in key_attributes(&insert.key) {
        place(&mut attributes, name, value)?;
    }
    for (name, value) in insert.indexes.iter().flat_map(entry_attributes) {
        place(&mut attributes, name, value)?;
    }
    match (insert.expires, table.shape().expiry) {
        (Some(at), _) => place(&mut attributes, expiry_of(table)?, number(at))?,
        (None, Some(expiry)) if attributes.contains_key(expiry) => return Err(disagree(expiry)),
        (None, _) => {}
    }
    for (name, value) in &insert.mirror {
        place(&mut attributes, name, from_value(value))?;
    }
    // Also when it is empty: an update reaches into it.
    place(&mut attributes, DERIVED, AttributeValue::M(derived))?;
    if let Some(names) = unlisted(table, &insert.indexes) {
        place(&mut attributes, UNLISTED, names)?;
    }
    let kind = insert.kind.name().to_owned();
    place(&mut attributes, KIND, AttributeValue::S(kind))?;
    place(&mut attributes, SHAPE, number(insert.version))?;
    place(&mut attributes, REVISION, number(1))?;
    Ok(attributes)
}

/// One attribute cannot have two values, where a row in memory could.
pub(super) fn place(
    attributes: &mut Attributes,
    name: &str,
    value: AttributeValue,
) -> Result<(), StoreError> {
    match attributes.get(name) {
        Some(same) if *same == value => Ok(()),
        Some(_) => Err(disagree(name)),
        None => {
            attributes.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

pub(super) fn disagree(name: &str) -> StoreError {
    StoreError::Malformed(format!(
        "the record and its key, index entries or expiry do not agree on {name}"
    ))
}

pub(super) fn expiry_of(table: Table) -> Result<&'static str, StoreError> {
    let refused = || StoreError::Malformed(format!("nothing expires in {}", table.name()));
    table.shape().expiry.ok_or_else(refused)
}

pub(super) fn has_expired(table: Table, attributes: &Attributes, now: i64) -> bool {
    let at = table.shape().expiry.and_then(|name| attributes.get(name));
    matches!(at.and_then(to_part), Some(Part::Number(at)) if at <= now)
}

/// What an entry of the ledger is that has no envelope. The table is shared with programs that
/// write the documented shape and nothing else, and to have been seen by one of them counts.
fn bare(table: Table) -> Option<(Kind, u8, u64)> {
    (table == Table::Ledger).then_some((Kind::Claim, 1, BARE_REVISION))
}

/// The row of a stored item, without what is not the record's own.
pub(super) fn row_of(table: Table, mut attributes: Attributes) -> Result<Row, StoreError> {
    let damaged = |what| StoreError::Damaged(format!("an item in {} has no {what}", table.name()));
    let bare = bare(table);
    let kind = match attributes.remove(KIND) {
        Some(AttributeValue::S(name)) => Kind::from_name(&name),
        Some(_) => None,
        None => bare.map(|(kind, ..)| kind),
    };
    let kind = kind.ok_or_else(|| damaged("known kind"))?;
    let version = match attributes.remove(SHAPE) {
        Some(AttributeValue::N(version)) => version.parse().ok(),
        Some(_) => None,
        None => bare.map(|(_, version, _)| version),
    };
    let revision = match attributes.remove(REVISION) {
        Some(AttributeValue::N(revision)) => revision.parse().ok(),
        Some(_) => None,
        None => bare.map(|(.., revision)| revision),
    };
    let derived = match attributes.remove(DERIVED) {
        Some(AttributeValue::M(names)) => names,
        _ => Attributes::new(),
    };
    attributes.remove(UNLISTED);
    let never = never_a_records(table);
    let mut item = Item::with_capacity(attributes.len());
    for (name, value) in attributes {
        if !never.contains(&&*name) && !derived.contains_key(&name) {
            let value = to_value(value)
                .map_err(|reason| StoreError::corrupt(kind, format!("{name} is {reason}")))?;
            item.set(name.into(), value);
        }
    }
    Ok(Row {
        kind,
        version: version.ok_or_else(|| StoreError::corrupt(kind, "it has no shape"))?,
        revision: revision.ok_or_else(|| StoreError::corrupt(kind, "it has no revision"))?,
        item,
    })
}

pub(super) fn number(number: impl Into<i64>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

pub(super) fn from_part(part: &Part) -> AttributeValue {
    match part {
        Part::Number(number) => AttributeValue::N(number.to_string()),
        Part::Text(text) => AttributeValue::S(text.clone()),
    }
}

fn to_part(value: &AttributeValue) -> Option<Part> {
    match value {
        AttributeValue::S(text) => Some(Part::Text(text.clone())),
        AttributeValue::N(number) => number.parse().ok().map(Part::Number),
        _ => None,
    }
}

pub(super) fn from_value(value: &Value) -> AttributeValue {
    match value {
        Value::Null => AttributeValue::Null(true),
        Value::Bool(bool) => AttributeValue::Bool(*bool),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::Text(text) => AttributeValue::S(text.clone()),
        Value::Bytes(bytes) => AttributeValue::B(Blob::new(bytes.to_vec())),
        Value::List(values) => AttributeValue::L(values.iter().map(from_value).collect()),
        Value::Map(map) => AttributeValue::M(
            map.iter().map(|(name, value)| (name.clone(), from_value(value))).collect(),
        ),
    }
}

fn to_value(value: AttributeValue) -> Result<Value, String> {
    Ok(match value {
        AttributeValue::Null(_) => Value::Null,
        AttributeValue::Bool(bool) => Value::Bool(bool),
        AttributeValue::N(digits) => Value::Number(to_number(&digits)?),
        AttributeValue::S(text) => Value::Text(text),
        AttributeValue::B(blob) => Value::Bytes(Bytes::from(blob.into_inner())),
        AttributeValue::L(values) => {
            Value::List(values.into_iter().map(to_value).collect::<Result<_, _>>()?)
        }
        AttributeValue::M(map) => Value::Map(
            map.into_iter()
                .map(|(name, value)| Ok((name, to_value(value)?)))
                .collect::<Result<_, String>>()?,
        ),
        _ => return Err("a set, which no record has".into()),
    })
}

fn to_number(digits: &str) -> Result<Number, String> {
    let whole = digits.parse().map(Number::Int);
    let whole = whole.or_else(|_| digits.parse().map(Number::from_u64));
    whole.or_else(|_| {
        let float = digits.parse().ok().and_then(Number::from_f64);
        float.ok_or_else(|| format!("the number {digits}"))
    })
}

#[cfg(test)]
mod tests;
