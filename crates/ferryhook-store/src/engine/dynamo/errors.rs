//! What DynamoDB's refusals mean: worth another try, a broken condition, or our mistake.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;

use super::items;
use crate::StoreError;
use crate::batch::{Action, Condition};
use crate::engine::Row;
use crate::error::BoxError;

/// Why one request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// It will pass, or it may have been done: the same request again finds out.
    Passing(BoxError),
    Final(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

/// `table` is the table's configured name, for the message.
pub(super) fn failure<E>(error: SdkError<E>, table: &str) -> Failure
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match &error {
        SdkError::ConstructionFailure(_) => {
            Failure::Final(StoreError::unavailable("no request could be made", chain(error)))
        }
        SdkError::ServiceError(service) => {
            let status = service.raw().status();
            let code = error.code().unwrap_or_default().to_owned();
            let message = error.message().unwrap_or_default().to_owned();
            match &*code {
                _ if status.is_server_error() => Failure::Passing(chain(error)),
                "ResourceNotFoundException" => Failure::Final(StoreError::unavailable(
                    format!("the table {table} is missing, run `ferryhook schema apply`"),
                    chain(error),
                )),
                "ValidationException" | "SerializationException" => {
                    Failure::Final(invalid(&message, table))
                }
                code if passes(code) => Failure::Passing(chain(error)),
                code => Failure::Final(StoreError::unavailable(
                    format!("DynamoDB refused the request ({code})"),
                    chain(error),
                )),
            }
        }
        // Timeouts, connections that failed or broke, answers that cannot be read.
        _ => Failure::Passing(chain(error)),
    }
}

/// Codes of errors and of cancellation reasons that say nothing about what was asked.
fn passes(code: &str) -> bool {
    matches!(
        code,
        "ThrottlingException"
            | "ThrottlingError"
            | "Throttling"
            | "ProvisionedThroughputExceededException"
            | "ProvisionedThroughputExceeded"
            | "RequestLimitExceeded"
            | "LimitExceededException"
            | "TransactionConflictException"
            | "TransactionConflict"
            | "TransactionInProgressException"
            | "ReplicatedWriteConflictException"
            | "InternalServerError"
            | "ServiceUnavailable"
    )
}

/// Validation has one code for everything; only the message tells.
fn invalid(message: &str, table: &str) -> StoreError {
    if message.contains("does not have the specified index") {
        let what = format!("an index of {table} is missing, run `ferryhook schema apply`");
        return StoreError::unavailable(what, message);
    }
    let too_large = ["exceeded the maximum", "cannot exceed 4"];
    match too_large.iter().any(|sign| message.contains(sign)) {
        true => StoreError::OutOfBounds(format!("too large for DynamoDB: {message}")),
        false => StoreError::Malformed(format!("DynamoDB refused it: {message}")),
    }
}

/// Why a transaction was not done. `actions` are in the order they were sent in.
pub(super) fn refusal(
    error: SdkError<TransactWriteItemsError>,
    actions: &[Action],
    now: i64,
) -> Failure {
    let reasons = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons.clone().unwrap_or_default()
        }
        _ => return failure(error, &tables_of(actions)),
    };
    let failed: Vec<_> = reasons
        .iter()
        .zip(actions)
        .enumerate()
        .filter(|(_, (reason, _))| reason.code() == Some("ConditionalCheckFailed"))
        .collect();
    let (sums, refused): (Vec<_>, Vec<_>) = failed
        .into_iter()
        .partition(|(_, (reason, action))| only_the_sum_failed(reason, action, now));
    if let Some((place, (_, action))) = refused.into_iter().next() {
        return Failure::Final(StoreError::Refused {
            action: place,
            key: action.key().clone(),
            condition: Box::new(action.condition().clone()),
        });
    }
    if let Some((_, (_, action))) = sums.into_iter().next() {
        let key = action.key();
        return Failure::Final(StoreError::Malformed(format!("cannot add to {key}")));
    }
    let other = reasons.iter().find(|reason| {
        let code = reason.code().unwrap_or("None");
        code != "None" && !passes(code)
    });
    match other {
        Some(reason) => {
            let message = reason.message().unwrap_or_default();
            Failure::Final(invalid(message, &tables_of(actions)))
        }
        None => Failure::Passing(chain(error)),
    }
}

fn tables_of(actions: &[Action]) -> String {
    let mut names: Vec<_> = actions.iter().map(|action| action.key().table.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" or ")
}

/// A patch asks two things, its condition and that its sums stay numbers. The row as it was
/// found, which comes with the reason, tells which of them failed.
fn only_the_sum_failed(reason: &CancellationReason, action: &Action, now: i64) -> bool {
    let Action::Patch(patch) = action else {
        return false;
    };
    let Some(found) = reason.item().filter(|found| !found.is_empty()) else {
        return false;
    };
    let table = patch.key.table;
    if patch.add.is_empty() || items::has_expired(table, found, now) {
        return false;
    }
    items::row_of(table, found.clone()).is_ok_and(|row| holds(&patch.condition, &row))
}

fn holds(condition: &Condition, row: &Row) -> bool {
    match condition {
        Condition::Absent => false,
        Condition::Exists => true,
        Condition::Revision(revision) => row.revision == *revision,
        Condition::Is(name, value) => row.item.get(name) == Some(value),
    }
}

/// The SDK's errors say "service error" and hide the rest behind `source`; one line says it all.
pub(super) fn chain(error: impl std::error::Error) -> BoxError {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        let next = deeper.to_string();
        if !line.contains(&next) {
            line = format!("{line}: {next}");
        }
        source = deeper.source();
    }
    line.into()
}
