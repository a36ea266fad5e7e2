//! What a run has done, or would do: for the command line to print and for programs to read.

use std::fmt;

use ferryhook_core::{Connection, Secret, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::diff::Difference;

/// What a manifest has changed, or would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Applied)]
pub struct Outcome {
    pub dry_run: bool,
    pub changes: Vec<Change>,
    /// Not in the file, and still there.
    pub left: Vec<Thing>,
    /// How many were as the file says.
    pub unchanged: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppliedChange)]
pub struct Change {
    pub what: What,
    #[serde(flatten)]
    pub thing: Thing,
    /// Of something that has changed: the fields, as the file calls them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// One that we made up. Nobody is told a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub signing_secret: Option<Secret>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppliedWhat)]
pub enum What {
    Created,
    Changed,
    Deleted,
}

/// A source or a connection, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppliedThing)]
pub struct Thing {
    pub kind: Kind,
    /// The name of the source, also for its connections.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// Absent for what a dry run has not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppliedKind)]
pub enum Kind {
    Source,
    Connection,
}

impl Outcome {
    pub(super) fn new(dry_run: bool) -> Self {
        Self { dry_run, changes: Vec::new(), left: Vec::new(), unchanged: 0 }
    }

    pub(super) fn add(&mut self, difference: Difference) {
        let Difference { mut changes, left, unchanged, .. } = difference;
        if self.dry_run {
            // Made up for the comparison, and forgotten with it.
            for change in changes.iter_mut().filter(|change| change.what == What::Created) {
                change.thing.id = None;
                change.signing_secret = None;
            }
        }
        self.changes.extend(changes);
        self.left.extend(left);
        self.unchanged += unchanged;
    }
}

impl Thing {
    pub(super) fn source(source: &Source) -> Self {
        Self {
            kind: Kind::Source,
            source: source.name.clone(),
            connection: None,
            id: Some(source.id.to_string()),
        }
    }

    pub(super) fn connection(source: &Source, connection: &Connection) -> Self {
        Self {
            kind: Kind::Connection,
            source: source.name.clone(),
            connection: Some(connection.name.clone()),
            id: Some(connection.id.to_string()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Source => "source",
            Self::Connection => "connection",
        })
    }
}
