//! The part of the schema tool that talks to DynamoDB.

use super::{Found, Plan};
use crate::StoreError;
use crate::engine::dynamo::DynamoConfig;
use crate::engine::dynamo::tables::Tables;
use crate::tables::Table;

/// What would be changed.
pub async fn plan(config: &DynamoConfig) -> Result<Plan, StoreError> {
    compare(&Tables::open(config).await?, config).await
}

/// Brings every table to its declaration and tells each step before it is taken. Finds what is
/// done already, so it may be run again, also after it failed half way. Changes nothing as long
/// as there are problems.
pub async fn apply(
    config: &DynamoConfig,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<Plan, StoreError> {
    let tables = Tables::open(config).await?;
    let plan = compare(&tables, config).await?;
    if !plan.problems.is_empty() {
        return Err(StoreError::Unusable(plan.problems.join("\n")));
    }
    for step in &plan.steps {
        tell(&step.to_string());
        tables.wait_until_ready_or_absent(&step.name).await?;
        if let Some(note) = Box::pin(tables.take(step)).await? {
            tell(&format!("note: {note}"));
        }
    }
    for step in &plan.steps {
        tables.wait_until_ready_or_absent(&step.name).await?;
    }
    for note in &plan.notes {
        tell(&format!("note: {note}"));
    }
    Ok(plan)
}

async fn compare(tables: &Tables, config: &DynamoConfig) -> Result<Plan, StoreError> {
    let names = config.names();
    let mut found: Vec<(Table, Option<Found>)> = Vec::new();
    for table in Table::ALL {
        found.push((table, Box::pin(tables.find(&names.of(table))).await?));
    }
    let found = found.iter().map(|(table, found)| (*table, found.as_ref()));
    Ok(Plan::of(&names, found))
}
