//! DynamoDB: for more than one node, and for who already runs it.
//!
//! Every commit is a transaction, one of a single action too. It costs twice the write capacity,
//! and buys that a commit whose answer was lost can be sent again: the transaction's token makes
//! the second time a no-op. A plain conditional write would find its own row in the way, and a
//! plain sum would be added twice.
//!
//! Reads of a table are consistent; an index follows its table by a moment. Nothing here decides
//! what is stored: `items` translates rows, `expressions` conditions, `errors` answers.

use std::time::Duration;

use aws_config::environment::{
    EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider,
};
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use ferryhook_core::Env;

use super::{Answer, Engine, Row};
use crate::StoreError;
use crate::batch::{Action, Batch, Durability};
use crate::changes::{Changes, Place, Wanted};
use crate::key::Key;
use crate::query::{Order, Page, Query};
use crate::schema::Names;
use errors::Failure;
use expressions::Placeholders;
use stream::Stream;

mod errors;
mod expressions;
mod items;
mod retry;
mod stream;
pub(crate) mod tables;

/// Requests for one page. Rows that are passed over (of other kinds, or expired) can make a page
/// need more than one; when this is not enough either, the page is short and has a next one.
const REQUESTS_PER_PAGE_MAX: usize = 16;
/// What one request may look at, which doubles from request to request up to here.
const EVALUATED_MAX: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamoConfig {
    /// A server other than AWS, or a private endpoint of it. One over plain HTTP is taken for a
    /// local server, which needs no credentials.
    pub endpoint: Option<String>,
    /// Where absent, the environment's or the profile's.
    pub region: Option<String>,
    pub table_prefix: String,
    pub ledger_table: String,
}

impl DynamoConfig {
    pub fn names(&self) -> Names {
        Names { prefix: self.table_prefix.clone(), ledger: self.ledger_table.clone() }
    }

    /// Servers of others differ in what they know and in how they refuse.
    fn is_aws(&self) -> bool {
        let endpoint = self.endpoint.as_deref();
        endpoint.is_none_or(|endpoint| endpoint.contains(".amazonaws.com"))
    }
}

#[derive(Debug)]
pub struct Dynamo {
    client: Client,
    names: Names,
    stream: Stream,
    env: Env,
}

impl Dynamo {
    /// Makes the clients; the first request connects.
    pub async fn open(config: DynamoConfig, env: Env) -> Result<Self, StoreError> {
        let shared = settings(&config, retry::TRY_TIMEOUT, RetryConfig::disabled()).await?;
        let mut of_streams = aws_sdk_dynamodbstreams::config::Builder::from(&shared);
        if let Some(endpoint) = &config.endpoint {
            of_streams = of_streams.endpoint_url(stream::requests::endpoint(endpoint));
        }
        let (client, names) = (Client::new(&shared), config.names());
        let streams = aws_sdk_dynamodbstreams::Client::from_conf(of_streams.build());
        let stream = Stream::new(client.clone(), streams, &names, env.clone(), config.is_aws());
        Ok(Self { client, names, stream, env })
    }

    async fn get_row(&self, key: &Key) -> Result<Option<Row>, StoreError> {
        key.check()?;
        let table = self.names.of(key.table);
        let answer = retry::persistently(&self.env, || async {
            let request = self.client.get_item().table_name(&table);
            let request = request.set_key(Some(items::key_of(key))).consistent_read(true);
            let answer = Box::pin(request.send()).await;
            answer.map_err(|error| errors::failure(error, &table))
        });
        let now = self.env.now().as_seconds();
        let found = Box::pin(answer).await?.item;
        let found = found.filter(|item| !items::has_expired(key.table, item, now));
        found.map(|item| items::row_of(key.table, item)).transpose()
    }

    async fn query_page(&self, query: &Query) -> Result<Page<Row>, StoreError> {
        query.check()?;
        let now = self.env.now().as_seconds();
        let mut placeholders = Placeholders::default();
        let Some(keys) = placeholders.key_condition(query) else {
            return Ok(Page { rows: Vec::new(), next: None });
        };
        let filter = placeholders.filter(query, now);
        let (names, values) = placeholders.finish();
        let table = self.names.of(query.table);
        let request = self.client.query().table_name(&table);
        let request = request
            .set_index_name(query.index.map(|index| index.shape().name.to_owned()))
            .consistent_read(query.index.is_none())
            .scan_index_forward(query.order == Order::Ascending)
            .key_condition_expression(keys)
            .filter_expression(filter)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values);

        let mut found = Vec::new();
        let mut start = query.after.as_ref().map(items::start_of);
        // One more than wanted tells whether there is a next page.
        let mut evaluated = query.limit + 1;
        for _ in 0..REQUESTS_PER_PAGE_MAX {
            let answer = retry::persistently(&self.env, || async {
                let request = request.clone().set_exclusive_start_key(start.clone());
                let answer = Box::pin(request.limit(evaluated as i32).send()).await;
                answer.map_err(|error| errors::failure(error, &table))
            });
            let answer = Box::pin(answer).await?;
            found.extend(answer.items.unwrap_or_default());
            start = answer.last_evaluated_key.filter(|key| !key.is_empty());
            if found.len() > query.limit || start.is_none() {
                break;
            }
            evaluated = (evaluated * 2).min(EVALUATED_MAX);
        }
        let last = match found.len() > query.limit {
            true => found.get(query.limit - 1).cloned(),
            false => start,
        };
        found.truncate(query.limit);
        let next = last.map(|last| items::cursor_of(query.table, query.index, &last));
        let rows = found.into_iter().map(|item| items::row_of(query.table, item));
        Ok(Page { rows: rows.collect::<Result<_, _>>()?, next: next.transpose()? })
    }

    async fn commit_all(&self, batch: Batch) -> Result<(), StoreError> {
        let actions = batch.checked()?;
        let now = self.env.now().as_seconds();
        let writes: Vec<_> =
            actions.iter().map(|action| self.write_of(action, now)).collect::<Result<_, _>>()?;
        let token = new_token();
        let answer = retry::persistently(&self.env, || self.send(&writes, &token, &actions, now));
        Box::pin(answer).await
    }

    /// Safe to repeat with the same token for ten minutes.
    async fn send(
        &self,
        writes: &[TransactWriteItem],
        token: &str,
        actions: &[Action],
        now: i64,
    ) -> Result<(), Failure> {
        let request = self.client.transact_write_items();
        let request = request.set_transact_items(Some(writes.to_vec())).client_request_token(token);
        match Box::pin(request.send()).await {
            Ok(_) => Ok(()),
            Err(error) => Err(errors::refusal(error, actions, now)),
        }
    }

    fn write_of(&self, action: &Action, now: i64) -> Result<TransactWriteItem, StoreError> {
        let key = action.key();
        let table = self.names.of(key.table);
        let write = TransactWriteItem::builder();
        let mut placeholders = Placeholders::default();
        let built = match action {
            Action::Patch(patch) => {
                let update = expressions::update(patch, now)?;
                let (names, values) = update.placeholders.finish();
                // The row as it is, to tell a failed condition from a failed sum.
                let old = match patch.add.is_empty() {
                    true => ReturnValuesOnConditionCheckFailure::None,
                    false => ReturnValuesOnConditionCheckFailure::AllOld,
                };
                let update = Update::builder()
                    .table_name(table)
                    .set_key(Some(items::key_of(key)))
                    .update_expression(update.update)
                    .condition_expression(update.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(old);
                write.update(update.build().map_err(unbuilt)?)
            }
            Action::Insert(insert) => {
                let condition = placeholders.condition(key.table, action.condition(), now);
                let (names, values) = placeholders.finish();
                let put = Put::builder()
                    .table_name(table)
                    .set_item(Some(items::item_of(insert)?))
                    .condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values);
                write.put(put.build().map_err(unbuilt)?)
            }
            Action::Delete(_) => {
                let condition = placeholders.condition(key.table, action.condition(), now);
                let (names, values) = placeholders.finish();
                let delete = Delete::builder()
                    .table_name(table)
                    .set_key(Some(items::key_of(key)))
                    .condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values);
                write.delete(delete.build().map_err(unbuilt)?)
            }
            Action::Require { .. } => {
                let condition = placeholders.condition(key.table, action.condition(), now);
                let (names, values) = placeholders.finish();
                let check = ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(items::key_of(key)))
                    .condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values);
                write.condition_check(check.build().map_err(unbuilt)?)
            }
        };
        Ok(built.build())
    }
}

/// The server remembers tokens for longer than a test runs: one that repeats its randomness would
/// be taken for a repeated request. So this is always the system's, and nobody sees it.
fn new_token() -> String {
    let mut bytes = [0; 16];
    Env::system().fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unbuilt(error: BuildError) -> StoreError {
    StoreError::Malformed(format!("no request could be made: {error}"))
}

impl Engine for Dynamo {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        Box::pin(self.get_row(key))
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move { self.query_page(&query).await })
    }

    /// Durable at the answer, whatever was asked: DynamoDB knows nothing less.
    fn commit(&self, batch: Batch, _: Durability) -> Answer<'_, ()> {
        Box::pin(self.commit_all(batch))
    }

    fn changes<'a>(&'a self, wanted: &'a Wanted) -> Answer<'a, Changes> {
        Box::pin(self.stream.changes(wanted))
    }

    fn changed<'a>(&'a self, _: &'a Place) -> Answer<'a, ()> {
        Box::pin(self.stream.changed())
    }
}

async fn connect(
    config: &DynamoConfig,
    try_timeout: Duration,
    retries: RetryConfig,
) -> Result<Client, StoreError> {
    Ok(Client::new(&settings(config, try_timeout, retries).await?))
}

/// What all clients share.
async fn settings(
    config: &DynamoConfig,
    try_timeout: Duration,
    retries: RetryConfig,
) -> Result<SdkConfig, StoreError> {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(retry::CONNECT_TIMEOUT)
        .operation_attempt_timeout(try_timeout)
        .build();
    let region = config.region.clone().map(Region::new);
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(retries)
        .timeout_config(timeouts);
    match config.endpoint.as_deref() {
        None => {
            loader = loader.region(RegionProviderChain::first_try(region).or_default_provider())
        }
        Some(endpoint) if endpoint.starts_with("https://") => {
            loader = loader
                .region(RegionProviderChain::first_try(region).or_default_provider())
                .endpoint_url(endpoint);
        }
        Some(endpoint) if endpoint.starts_with("http://") => {
            let environment = EnvironmentVariableRegionProvider::new();
            let region = RegionProviderChain::first_try(region).or_else(environment);
            let environment = EnvironmentVariableCredentialsProvider::new();
            let local = Credentials::new("local", "local", None, None, "local server");
            let credentials = CredentialsProviderChain::first_try("environment", environment)
                .or_else("local server", local);
            loader = loader
                .region(region.or_else(Region::from_static("us-east-1")))
                .credentials_provider(credentials)
                .endpoint_url(endpoint);
        }
        Some(endpoint) => {
            return Err(StoreError::Unusable(format!(
                "the endpoint of DynamoDB, {endpoint}, begins with neither http:// nor https://"
            )));
        }
    }
    Ok(Box::pin(loader.load()).await)
}

#[cfg(test)]
mod tests;
