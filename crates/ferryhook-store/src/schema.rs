//! The schema tool: what `tables` declares, compared with what is there.
//!
//! Run by an operator (`ferryhook schema plan | apply | terraform`), never by a server. It only
//! adds and switches on: nothing here drops a table, an index or a row. What it cannot change in
//! place it calls a problem and leaves alone.

use std::fmt;

use crate::tables::{Capacity, Index, KeyAttribute, Table};

#[cfg(feature = "aws")]
mod apply;
mod terraform;

#[cfg(feature = "aws")]
pub use apply::{apply, plan};
#[cfg(feature = "aws")]
pub(crate) use terraform::key_attributes;
pub use terraform::terraform;

/// What the tables are called in one deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    pub prefix: String,
    /// The ledger's whole name: it is often older than the deployment, and has no prefix.
    pub ledger: String,
}

impl Names {
    pub fn of(&self, table: Table) -> String {
        match table {
            Table::Ledger => self.ledger.clone(),
            table => format!("{}{}", self.prefix, table.name()),
        }
    }
}

/// A table as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub keys: Keys,
    pub indexes: Vec<(String, Keys)>,
    pub on_demand: bool,
    pub expiry: Option<String>,
    pub stream: Stream,
    pub point_in_time_recovery: Switch,
    pub encryption: Switch,
}

/// The name of each key attribute, and whether it is a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    pub partition: (String, bool),
    pub sort: Option<(String, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Off,
    /// Shows the row after each change.
    NewImages,
    /// Shows only keys, or only the row before.
    OtherImages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
    /// This server knows no such thing.
    Unknown,
}

/// What would bring the tables to their declaration, in the order it has to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// What an operator has to resolve first.
    pub problems: Vec<String>,
    /// What the server cannot do, and works without.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub table: Table,
    /// The table's name in this deployment.
    pub name: String,
    pub change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// With all its indexes, its stream and its encryption.
    Create,
    AddIndex(Index),
    SetCapacity(Capacity),
    StartStream,
    Encrypt,
    /// By this attribute.
    Expire(&'static str),
    Recover,
}

impl Plan {
    /// Asks of each table what it lacks; `None` for one that does not exist.
    pub fn of<'a>(
        names: &Names,
        found: impl IntoIterator<Item = (Table, Option<&'a Found>)>,
    ) -> Self {
        let mut plan = Self::default();
        for (table, found) in found {
            let name = names.of(table);
            match found {
                None => plan.create(table, &name),
                Some(found) => plan.complete(table, &name, found),
            }
        }
        plan
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.problems.is_empty()
    }

    fn create(&mut self, table: Table, name: &str) {
        let shape = table.shape();
        self.step(table, name, Change::Create);
        if let Some(attribute) = shape.expiry {
            self.step(table, name, Change::Expire(attribute));
        }
        if shape.point_in_time_recovery {
            self.step(table, name, Change::Recover);
        }
    }

    fn complete(&mut self, table: Table, name: &str, found: &Found) {
        let shape = table.shape();
        if found.keys != Keys::of(shape.partition, shape.sort) {
            let problem =
                format!("{name}: has other keys; a table with the declared ones is needed");
            self.problems.push(problem);
            return;
        }
        for index in table.indexes() {
            let shape = index.shape();
            let known = found.indexes.iter().find(|(name, _)| name == shape.name);
            match known {
                None => self.step(table, name, Change::AddIndex(index)),
                Some((_, keys)) if *keys == Keys::of(shape.partition, shape.sort) => {}
                Some((index, _)) => self.problems.push(format!(
                    "{name}: the index {index} has other keys; delete it to have it made anew"
                )),
            }
        }
        if found.on_demand != (shape.capacity == Capacity::OnDemand) {
            self.step(table, name, Change::SetCapacity(shape.capacity));
        }
        match (shape.stream, found.stream) {
            (true, Stream::Off) => self.step(table, name, Change::StartStream),
            (true, Stream::OtherImages) => self.problems.push(format!(
                "{name}: its stream has no new images; switch it off to have it made anew"
            )),
            _ => {}
        }
        match found.encryption {
            Switch::On => {}
            Switch::Off => self.step(table, name, Change::Encrypt),
            Switch::Unknown => self.note(name, "encryption at rest"),
        }
        match (shape.expiry, found.expiry.as_deref()) {
            (Some(attribute), None) => self.step(table, name, Change::Expire(attribute)),
            (Some(wanted), Some(other)) if wanted != other => self.problems.push(format!(
                "{name}: expires by {other}; switch that off to have it expire by {wanted}"
            )),
            _ => {}
        }
        match (shape.point_in_time_recovery, found.point_in_time_recovery) {
            (true, Switch::Off) => self.step(table, name, Change::Recover),
            (true, Switch::Unknown) => self.note(name, "point-in-time recovery"),
            _ => {}
        }
    }

    fn step(&mut self, table: Table, name: &str, change: Change) {
        let name = name.to_owned();
        self.steps.push(Step { table, name, change });
    }

    fn note(&mut self, name: &str, what: &str) {
        self.notes.push(format!("{name}: this server knows no {what}"));
    }
}

impl Keys {
    fn of(partition: KeyAttribute, sort: Option<KeyAttribute>) -> Self {
        let owned = |attribute: KeyAttribute| (attribute.name.to_owned(), attribute.numeric);
        Self { partition: owned(partition), sort: sort.map(owned) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            writeln!(f, "every table is as declared")?;
        }
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        for problem in &self.problems {
            writeln!(f, "problem: {problem}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, name, change } = self;
        match change {
            Change::Create => {
                let capacity = Words(table.shape().capacity);
                let indexes = table.indexes().count();
                write!(f, "{name}: create, {capacity}, indexes: {indexes}")
            }
            Change::AddIndex(index) => write!(f, "{name}: add the index {}", index.shape().name),
            Change::SetCapacity(capacity) => write!(f, "{name}: set {}", Words(*capacity)),
            Change::StartStream => write!(f, "{name}: start a stream of new images"),
            Change::Encrypt => write!(f, "{name}: encrypt with the AWS managed key"),
            Change::Expire(attribute) => write!(f, "{name}: expire rows by {attribute}"),
            Change::Recover => write!(f, "{name}: switch on point-in-time recovery"),
        }
    }
}

struct Words(Capacity);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Capacity::OnDemand => f.write_str("on demand"),
            Capacity::Provisioned { read, write } => {
                write!(f, "provisioned for {read} reads and {write} writes")
            }
        }
    }
}

#[cfg(test)]
mod tests;
