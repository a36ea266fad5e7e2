//! What is asked of the server: which shards there are, where to begin in one, what is in it.

use aws_sdk_dynamodb::Client as Tables;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::types::{self as streams, Record, ShardIteratorType, StreamViewType};
use ferryhook_core::Env;

use super::checkpoint::{Sequence, Spot, short};
use super::lineage::Shard;
use crate::StoreError;
use crate::changes::ChangesError;
use crate::engine::dynamo::{errors, retry};

/// Of 100 shards each.
const DESCRIPTIONS_MAX: usize = 100;
/// As many as the server gives; it also ends an answer at 1 MB.
const RECORDS_MAX: i32 = 1000;

#[derive(Debug, Clone)]
pub(super) struct Requests {
    pub(super) tables: Tables,
    pub(super) streams: Client,
    pub(super) env: Env,
    pub(super) is_aws: bool,
}

/// The stream of a table as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) arn: String,
    pub(super) shards: Vec<Shard>,
    /// Their full ids, in the same order.
    pub(super) ids: Vec<String>,
}

impl Described {
    pub(super) fn id(&self, name: &str) -> Option<&str> {
        let place = self.shards.iter().position(|shard| shard.name == name)?;
        self.ids.get(place).map(|id| &**id)
    }
}

/// Why there is no answer that can be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It was there once.
    Trimmed,
    /// The iterator is too old; what it stood for need not be.
    Expired,
    /// It never was.
    Unknown,
}

impl Requests {
    pub(super) async fn describe(&self, table: &str) -> Result<Described, StoreError> {
        let answer =
            self.ask(table, || Box::pin(self.tables.describe_table().table_name(table).send()));
        let found = match Box::pin(answer).await? {
            Ok(answer) => answer.table,
            Err(_) => None,
        };
        let is_on = |found: &aws_sdk_dynamodb::types::TableDescription| {
            found.stream_specification().is_some_and(|stream| stream.stream_enabled())
        };
        let arn = found.filter(is_on).and_then(|found| found.latest_stream_arn);
        let arn = arn.ok_or(ChangesError::NotKept)?;
        let mut described = Described { arn, shards: Vec::new(), ids: Vec::new() };
        let mut last = None;
        for _ in 0..DESCRIPTIONS_MAX {
            let request = self.streams.describe_stream().stream_arn(&described.arn);
            let request = request.set_exclusive_start_shard_id(last);
            let answer = self.ask(table, || Box::pin(request.clone().send()));
            let answer = Box::pin(answer).await?.map_err(|_| ChangesError::NotKept)?;
            let page = answer.stream_description.ok_or(ChangesError::NotKept)?;
            let view = page.stream_view_type;
            if !matches!(view, Some(StreamViewType::NewImage | StreamViewType::NewAndOldImages)) {
                return Err(ChangesError::NotKept.into());
            }
            for shard in page.shards.unwrap_or_default() {
                described.ids.push(shard.shard_id.clone().unwrap_or_default());
                described.shards.push(shard_of(shard));
            }
            last = page.last_evaluated_shard_id;
            if last.is_none() {
                break;
            }
        }
        Ok(described)
    }

    /// An iterator at a spot; at the end of the shard where there is none.
    pub(super) async fn iterator(
        &self,
        table: &str,
        arn: &str,
        shard: &str,
        spot: Option<&Spot>,
    ) -> Result<Result<String, Refusal>, StoreError> {
        let request = self.streams.get_shard_iterator().stream_arn(arn).shard_id(shard);
        let request = match spot {
            None => request.shard_iterator_type(ShardIteratorType::Latest),
            Some(Spot::After(number)) => request
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(number.to_string()),
            Some(_) => request.shard_iterator_type(ShardIteratorType::TrimHorizon),
        };
        let answer = self.ask(table, || Box::pin(request.clone().send()));
        let answer = Box::pin(answer).await?;
        Ok(answer.and_then(|answer| answer.shard_iterator.ok_or(Refusal::Trimmed)))
    }

    /// What follows an iterator, and the next one, which a shard that is closed and read has not.
    pub(super) async fn records(
        &self,
        table: &str,
        iterator: &str,
    ) -> Result<Result<(Vec<Record>, Option<String>), Refusal>, StoreError> {
        let request = self.streams.get_records().shard_iterator(iterator).limit(RECORDS_MAX);
        let answer = self.ask(table, || Box::pin(request.clone().send()));
        Ok(match Box::pin(answer).await? {
            Ok(answer) => Ok((answer.records.unwrap_or_default(), answer.next_shard_iterator)),
            // An iterator that no longer means anything.
            Err(Refusal::Unknown) => Err(Refusal::Expired),
            Err(refusal) => Err(refusal),
        })
    }

    async fn ask<T, E, F>(
        &self,
        table: &str,
        send: impl Fn() -> F,
    ) -> Result<Result<T, Refusal>, StoreError>
    where
        F: Future<Output = Result<T, SdkError<E>>>,
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let send = &send;
        let asking = retry::persistently(&self.env, || async move {
            match send().await {
                Ok(answer) => Ok(Ok(answer)),
                Err(error) => match refusal(error.code().unwrap_or_default(), self.is_aws) {
                    Some(refusal) => Ok(Err(refusal)),
                    None => Err(errors::failure(error, table)),
                },
            }
        });
        Box::pin(asking).await
    }
}

pub(super) fn refusal(code: &str, is_aws: bool) -> Option<Refusal> {
    match code {
        "TrimmedDataAccessException" | "ResourceNotFoundException" => Some(Refusal::Trimmed),
        "ExpiredIteratorException" => Some(Refusal::Expired),
        "ValidationException" => Some(Refusal::Unknown),
        // What DynamoDB Local says to a number that it cannot have given.
        "InternalFailure" if !is_aws => Some(Refusal::Unknown),
        _ => None,
    }
}

fn shard_of(shard: streams::Shard) -> Shard {
    let range = shard.sequence_number_range;
    let number = |text: Option<&str>| text.and_then(Sequence::parse);
    Shard {
        name: short(shard.shard_id.as_deref().unwrap_or_default()),
        parent: shard.parent_shard_id.as_deref().map(short),
        first: number(range.as_ref().and_then(|range| range.starting_sequence_number())),
        last: number(range.as_ref().and_then(|range| range.ending_sequence_number())),
    }
}

/// Streams are served by another host than tables, where an address of AWS is written out.
pub(in crate::engine::dynamo) fn endpoint(tables: &str) -> String {
    match tables.split_once("://dynamodb.") {
        Some((scheme, rest)) if rest.contains(".amazonaws.com") => {
            format!("{scheme}://streams.dynamodb.{rest}")
        }
        _ => tables.to_owned(),
    }
}
