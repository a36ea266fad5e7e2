//! A record of the stream as a change of a row.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::types::{self as streams, OperationType, Record};

use super::checkpoint::Sequence;
use crate::StoreError;
use crate::changes::{Wanted, What};
use crate::engine::dynamo::items::{self, Attributes};
use crate::key::Key;
use crate::record::Kind;
use crate::tables::Table;

/// Who deletes what has expired.
const EXPIRY: &str = "dynamodb.amazonaws.com";

/// One record, of whatever it is.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) number: Sequence,
    /// The number as the server writes it.
    pub(super) sequence: String,
    /// In seconds, rounded down; some servers round to the minute.
    pub(super) created: Option<i64>,
    /// Nothing for what is no change of ours: rows that have expired, and what others have put
    /// into the table.
    pub(super) change: Option<(Key, Written)>,
}

#[derive(Debug)]
pub(super) enum Written {
    Image(Kind, Attributes),
    Removed,
}

impl Told {
    pub(super) fn of(record: Record, table: Table) -> Result<Self, StoreError> {
        let name = record.event_name;
        let identity = record.user_identity.and_then(|identity| identity.principal_id);
        let Some(change) = record.dynamodb else { return Err(unreadable(table)) };
        let sequence = change.sequence_number.unwrap_or_default();
        let number = Sequence::parse(&sequence).ok_or_else(|| unreadable(table))?;
        let created = change.approximate_creation_date_time.map(|at| at.secs());
        let key = items::cursor_of(table, None, &attributes_of(change.keys.unwrap_or_default()));
        let key = key.map(|cursor| cursor.key);
        let change = match name {
            Some(OperationType::Remove) if identity.as_deref() == Some(EXPIRY) => None,
            Some(OperationType::Remove) => Some((key?, Written::Removed)),
            _ => {
                let image = attributes_of(change.new_image.unwrap_or_default());
                let kind = image.get(items::KIND).and_then(|kind| kind.as_s().ok());
                let kind = kind.and_then(|kind| Kind::from_name(kind));
                kind.map(|kind| Ok::<_, StoreError>((key?, Written::Image(kind, image))))
                    .transpose()?
            }
        };
        Ok(Self { number, sequence, created, change })
    }

    /// What it is for who asks, if anything.
    pub(super) fn wanted(
        &self,
        wanted: &Wanted,
        now: i64,
    ) -> Result<Option<(Key, What)>, StoreError> {
        let Some((key, written)) = &self.change else { return Ok(None) };
        let Written::Image(kind, image) = written else {
            return Ok(Some((key.clone(), What::Removed)));
        };
        if *kind != wanted.kind || items::has_expired(key.table, image, now) {
            return Ok(None);
        }
        let row = items::row_of(key.table, image.clone())?;
        Ok(wanted.wants(&row).then(|| (key.clone(), What::written(row))))
    }
}

fn unreadable(table: Table) -> StoreError {
    StoreError::Damaged(format!("the stream of {} has a record without a number", table.name()))
}

/// The same values: each of the two clients has a type of its own for them.
fn attributes_of(image: HashMap<String, streams::AttributeValue>) -> Attributes {
    image.into_iter().map(|(name, value)| (name, value_of(value))).collect()
}

fn value_of(value: streams::AttributeValue) -> AttributeValue {
    use streams::AttributeValue as Theirs;
    let blob = |blob: aws_sdk_dynamodbstreams::primitives::Blob| Blob::new(blob.into_inner());
    match value {
        Theirs::S(text) => AttributeValue::S(text),
        Theirs::N(number) => AttributeValue::N(number),
        Theirs::B(bytes) => AttributeValue::B(blob(bytes)),
        Theirs::Bool(bool) => AttributeValue::Bool(bool),
        Theirs::L(values) => AttributeValue::L(values.into_iter().map(value_of).collect()),
        Theirs::M(map) => AttributeValue::M(attributes_of(map)),
        Theirs::Ss(texts) => AttributeValue::Ss(texts),
        Theirs::Ns(numbers) => AttributeValue::Ns(numbers),
        Theirs::Bs(all) => AttributeValue::Bs(all.into_iter().map(blob).collect()),
        // `Null`, and what nobody knows yet: a record ignores it.
        _ => AttributeValue::Null(true),
    }
}
