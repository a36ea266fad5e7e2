//! Tables as a whole: what one is like, and single changes to it. For the schema tool.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, CreateGlobalSecondaryIndexAction, GlobalSecondaryIndex,
    GlobalSecondaryIndexUpdate, IndexStatus, KeySchemaElement, KeyType,
    PointInTimeRecoverySpecification, PointInTimeRecoveryStatus, Projection, ProjectionType,
    ProvisionedThroughput, ScalarAttributeType, SseSpecification, SseStatus, SseType,
    StreamSpecification, StreamViewType, TableDescription, TableStatus, TimeToLiveSpecification,
    TimeToLiveStatus, UpdateGlobalSecondaryIndexAction,
};

use super::{DynamoConfig, connect, errors, unbuilt};
use crate::StoreError;
use crate::schema::{Change, Found, Keys, Step, Stream, Switch, key_attributes};
use crate::tables::{Capacity, Index, KeyAttribute, Table};

const TRY_TIMEOUT: Duration = Duration::from_secs(20);
const TRIES_MAX: u32 = 5;
/// Filling a new index of a large table takes its time. Whoever waits longer runs it again.
const POLLS_MAX: u32 = 1800;
const POLL_FIRST: Duration = Duration::from_millis(50);
const POLL_EVERY: Duration = Duration::from_secs(1);
/// Recovery cannot be switched on in the first moments of a table.
const RECOVERY_TRIES_MAX: u32 = 60;

#[derive(Debug)]
pub(crate) struct Tables {
    client: Client,
    /// Servers of others lack some of the calls, which is then not an error.
    is_aws: bool,
}

impl Tables {
    pub(crate) async fn open(config: &DynamoConfig) -> Result<Self, StoreError> {
        let retries = RetryConfig::standard().with_max_attempts(TRIES_MAX);
        Ok(Self { client: connect(config, TRY_TIMEOUT, retries).await?, is_aws: config.is_aws() })
    }

    pub(crate) async fn find(&self, name: &str) -> Result<Option<Found>, StoreError> {
        let Some(table) = self.describe(name).await? else {
            return Ok(None);
        };
        let keys = |schema: &[KeySchemaElement]| keys_of(&table, schema);
        let indexes = table.global_secondary_indexes().iter();
        Ok(Some(Found {
            keys: keys(table.key_schema()),
            indexes: indexes
                .map(|index| {
                    let name = index.index_name().unwrap_or_default().to_owned();
                    (name, keys(index.key_schema()))
                })
                .collect(),
            on_demand: table.billing_mode_summary().and_then(|summary| summary.billing_mode())
                == Some(&BillingMode::PayPerRequest),
            expiry: self.expiry(name).await?,
            stream: stream_of(&table),
            point_in_time_recovery: self.recovery(name).await?,
            encryption: match table.sse_description().and_then(|sse| sse.status()) {
                Some(SseStatus::Enabled | SseStatus::Enabling | SseStatus::Updating) => Switch::On,
                _ if self.is_aws => Switch::Off,
                _ => Switch::Unknown,
            },
        }))
    }

    /// Takes one step; a note says what the server knows nothing of.
    pub(crate) async fn take(&self, step: &Step) -> Result<Option<String>, StoreError> {
        let name = &step.name;
        match step.change {
            Change::Create => self.create(step.table, name).await?,
            Change::AddIndex(index) => self.add_index(index, name).await?,
            Change::SetCapacity(capacity) => self.set_capacity(capacity, name).await?,
            Change::StartStream => {
                let update = self.client.update_table().table_name(name);
                let update = update.stream_specification(new_images()?);
                done(update.send().await, name)?;
            }
            Change::Encrypt => {
                let update = self.client.update_table().table_name(name);
                let update = update.sse_specification(managed_key());
                done(update.send().await, name)?;
            }
            Change::Expire(attribute) => {
                let expiry = TimeToLiveSpecification::builder().enabled(true);
                let expiry = expiry.attribute_name(attribute).build().map_err(unbuilt)?;
                let update = self.client.update_time_to_live().table_name(name);
                done(update.time_to_live_specification(expiry).send().await, name)?;
            }
            Change::Recover => return self.recover(name).await,
        }
        Ok(None)
    }

    /// Only one change at a time may be under way in a table.
    pub(crate) async fn wait_until_ready_or_absent(&self, name: &str) -> Result<(), StoreError> {
        let mut pause = POLL_FIRST;
        for _ in 0..POLLS_MAX {
            match self.describe(name).await? {
                None => return Ok(()),
                Some(table) if is_ready(&table) => return Ok(()),
                Some(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(POLL_EVERY);
        }
        let what =
            format!("{name} is still being changed, run `ferryhook schema apply` again later");
        Err(StoreError::Unavailable(what, None))
    }

    async fn describe(&self, name: &str) -> Result<Option<TableDescription>, StoreError> {
        match self.client.describe_table().table_name(name).send().await {
            Ok(answer) => Ok(answer.table),
            Err(error) if error.code() == Some("ResourceNotFoundException") => Ok(None),
            Err(error) => Err(failed(&error, name)),
        }
    }

    async fn expiry(&self, name: &str) -> Result<Option<String>, StoreError> {
        let answer = self.client.describe_time_to_live().table_name(name).send();
        let expiry = done(answer.await, name)?.time_to_live_description;
        Ok(expiry.and_then(|expiry| match expiry.time_to_live_status {
            Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling) => expiry.attribute_name,
            _ => None,
        }))
    }

    async fn recovery(&self, name: &str) -> Result<Switch, StoreError> {
        let request = self.client.describe_continuous_backups().table_name(name);
        let answer = match request.send().await {
            Ok(answer) => answer.continuous_backups_description,
            Err(error) if self.lacks(&error) => return Ok(Switch::Unknown),
            Err(error) => return Err(failed(&error, name)),
        };
        let status = answer
            .and_then(|backups| backups.point_in_time_recovery_description)
            .and_then(|recovery| recovery.point_in_time_recovery_status);
        Ok(match status {
            Some(PointInTimeRecoveryStatus::Enabled) => Switch::On,
            _ => Switch::Off,
        })
    }

    async fn create(&self, table: Table, name: &str) -> Result<(), StoreError> {
        let shape = table.shape();
        let mut request = self
            .client
            .create_table()
            .table_name(name)
            .set_key_schema(Some(schema(shape.partition, shape.sort)?))
            .set_attribute_definitions(Some(definitions(table)?))
            .set_billing_mode(Some(billing_of(shape.capacity)))
            .set_provisioned_throughput(throughput(shape.capacity)?)
            .sse_specification(managed_key());
        for index in table.indexes() {
            let index_shape = index.shape();
            let index = GlobalSecondaryIndex::builder()
                .index_name(index_shape.name)
                .set_key_schema(Some(schema(index_shape.partition, index_shape.sort)?))
                .projection(everything())
                .set_provisioned_throughput(throughput(shape.capacity)?);
            request = request.global_secondary_indexes(index.build().map_err(unbuilt)?);
        }
        if shape.stream {
            request = request.stream_specification(new_images()?);
        }
        done(request.send().await, name).map(drop)
    }

    /// As an older version might have left it.
    #[cfg(test)]
    pub(crate) async fn create_bare(&self, table: Table, name: &str) -> Result<(), StoreError> {
        let shape = table.shape();
        let request = self.client.create_table().table_name(name);
        let request = request
            .set_key_schema(Some(schema(shape.partition, shape.sort)?))
            .set_attribute_definitions(Some(definitions_of(&[Some(shape.partition), shape.sort])?))
            .billing_mode(BillingMode::PayPerRequest);
        done(request.send().await, name).map(drop)
    }

    async fn add_index(&self, index: Index, name: &str) -> Result<(), StoreError> {
        let shape = index.shape();
        let create = CreateGlobalSecondaryIndexAction::builder()
            .index_name(shape.name)
            .set_key_schema(Some(schema(shape.partition, shape.sort)?))
            .projection(everything())
            .set_provisioned_throughput(throughput(index.table().shape().capacity)?);
        let create = create.build().map_err(unbuilt)?;
        let update = GlobalSecondaryIndexUpdate::builder().create(create).build();
        let request = self.client.update_table().table_name(name);
        let request = request
            .set_attribute_definitions(Some(definitions_of(&[Some(shape.partition), shape.sort])?))
            .global_secondary_index_updates(update);
        done(request.send().await, name).map(drop)
    }

    async fn set_capacity(&self, capacity: Capacity, name: &str) -> Result<(), StoreError> {
        let request = self.client.update_table().table_name(name);
        let mut request = request
            .billing_mode(billing_of(capacity))
            .set_provisioned_throughput(throughput(capacity)?);
        let table = self.describe(name).await?;
        let indexes = table.iter().flat_map(|table| table.global_secondary_indexes());
        for index in indexes {
            if let Some(throughput) = throughput(capacity)? {
                let update = UpdateGlobalSecondaryIndexAction::builder()
                    .set_index_name(index.index_name.clone())
                    .provisioned_throughput(throughput);
                let update = update.build().map_err(unbuilt)?;
                let update = GlobalSecondaryIndexUpdate::builder().update(update).build();
                request = request.global_secondary_index_updates(update);
            }
        }
        done(request.send().await, name).map(drop)
    }

    async fn recover(&self, name: &str) -> Result<Option<String>, StoreError> {
        let recovery = PointInTimeRecoverySpecification::builder()
            .point_in_time_recovery_enabled(true)
            .build()
            .map_err(unbuilt)?;
        let request = self.client.update_continuous_backups().table_name(name);
        let request = request.point_in_time_recovery_specification(recovery);
        for _ in 0..RECOVERY_TRIES_MAX {
            match request.clone().send().await {
                Ok(_) => return Ok(None),
                Err(error) if self.lacks(&error) => {
                    let note = format!("{name}: this server knows no point-in-time recovery");
                    return Ok(Some(note));
                }
                Err(error) if error.code() == Some("ContinuousBackupsUnavailableException") => {
                    tokio::time::sleep(POLL_EVERY).await;
                }
                Err(error) => return Err(failed(&error, name)),
            }
        }
        let what = format!("{name} cannot be recovered yet, run `ferryhook schema apply` again");
        Err(StoreError::Unavailable(what, None))
    }

    fn lacks<E: ProvideErrorMetadata>(&self, error: &SdkError<E>) -> bool {
        let unknown = ["UnknownOperationException", "ValidationException"];
        !self.is_aws && error.code().is_some_and(|code| unknown.contains(&code))
    }
}

fn is_ready(table: &TableDescription) -> bool {
    let indexes = table.global_secondary_indexes();
    table.table_status() == Some(&TableStatus::Active)
        && indexes.iter().all(|index| index.index_status() == Some(&IndexStatus::Active))
}

fn stream_of(table: &TableDescription) -> Stream {
    let stream = table.stream_specification();
    match stream.filter(|stream| stream.stream_enabled()) {
        None => Stream::Off,
        Some(stream) => match stream.stream_view_type() {
            Some(StreamViewType::NewImage | StreamViewType::NewAndOldImages) => Stream::NewImages,
            _ => Stream::OtherImages,
        },
    }
}

fn keys_of(table: &TableDescription, schema: &[KeySchemaElement]) -> Keys {
    let part = |kind: KeyType| {
        let element = schema.iter().find(|element| *element.key_type() == kind)?;
        let name = element.attribute_name();
        let definitions = table.attribute_definitions();
        let numeric = definitions.iter().any(|definition| {
            definition.attribute_name() == name
                && *definition.attribute_type() == ScalarAttributeType::N
        });
        Some((name.to_owned(), numeric))
    };
    Keys { partition: part(KeyType::Hash).unwrap_or_default(), sort: part(KeyType::Range) }
}

fn schema(
    partition: KeyAttribute,
    sort: Option<KeyAttribute>,
) -> Result<Vec<KeySchemaElement>, StoreError> {
    let element = |attribute: KeyAttribute, kind| {
        let element = KeySchemaElement::builder().attribute_name(attribute.name);
        element.key_type(kind).build().map_err(unbuilt)
    };
    let sort = sort.map(|sort| element(sort, KeyType::Range));
    [element(partition, KeyType::Hash)].into_iter().chain(sort).collect()
}

fn definitions(table: Table) -> Result<Vec<AttributeDefinition>, StoreError> {
    let attributes: Vec<_> = key_attributes(table).into_values().map(Some).collect();
    definitions_of(&attributes)
}

fn definitions_of(
    attributes: &[Option<KeyAttribute>],
) -> Result<Vec<AttributeDefinition>, StoreError> {
    let definition = |attribute: &KeyAttribute| {
        let kind = match attribute.numeric {
            true => ScalarAttributeType::N,
            false => ScalarAttributeType::S,
        };
        let definition = AttributeDefinition::builder().attribute_name(attribute.name);
        definition.attribute_type(kind).build().map_err(unbuilt)
    };
    attributes.iter().flatten().map(definition).collect()
}

fn billing_of(capacity: Capacity) -> BillingMode {
    match capacity {
        Capacity::OnDemand => BillingMode::PayPerRequest,
        Capacity::Provisioned { .. } => BillingMode::Provisioned,
    }
}

fn throughput(capacity: Capacity) -> Result<Option<ProvisionedThroughput>, StoreError> {
    match capacity {
        Capacity::OnDemand => Ok(None),
        Capacity::Provisioned { read, write } => {
            let throughput = ProvisionedThroughput::builder().read_capacity_units(read);
            let throughput = throughput.write_capacity_units(write).build();
            throughput.map(Some).map_err(unbuilt)
        }
    }
}

fn everything() -> Projection {
    Projection::builder().projection_type(ProjectionType::All).build()
}

fn new_images() -> Result<StreamSpecification, StoreError> {
    let stream = StreamSpecification::builder().stream_enabled(true);
    let stream = stream.stream_view_type(StreamViewType::NewImage).build();
    stream.map_err(unbuilt)
}

fn managed_key() -> SseSpecification {
    SseSpecification::builder().enabled(true).sse_type(SseType::Kms).build()
}

fn done<T, E>(answer: Result<T, SdkError<E>>, name: &str) -> Result<T, StoreError>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    answer.map_err(|error| failed(&error, name))
}

fn failed<E>(error: &SdkError<E>, name: &str) -> StoreError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match (error.code(), error.message()) {
        (Some(code), message) => StoreError::unavailable(
            format!("DynamoDB refused to describe or change {name} ({code})"),
            message.unwrap_or("it gave no reason"),
        ),
        // No answer at all, or one that nobody understands.
        (None, _) => StoreError::unavailable(
            format!("DynamoDB could not be asked about {name}"),
            errors::chain(error),
        ),
    }
}

#[cfg(test)]
mod tests;
