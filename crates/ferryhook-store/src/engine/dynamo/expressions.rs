//! Conditions, updates and key conditions in DynamoDB's language.
//!
//! Every name and value goes in by a placeholder: half of the attributes of the tables (`status`,
//! `timestamp`, `name`) are reserved words, and none of them is known to be harmless.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use ferryhook_core::limits;

use super::items::{self, Attributes};
use crate::StoreError;
use crate::batch::{Condition, Moves, Patch};
use crate::key::{Key, Part};
use crate::query::{Query, Range};
use crate::tables::Table;

/// What `#n0` and `:v0` stand for in the expressions of one request.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    names: Vec<String>,
    values: Vec<AttributeValue>,
}

impl Placeholders {
    pub(super) fn name(&mut self, name: &str) -> String {
        let known = self.names.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("#n{place}")
    }

    pub(super) fn value(&mut self, value: AttributeValue) -> String {
        self.values.push(value);
        format!(":v{}", self.values.len() - 1)
    }

    /// For a request, which refuses an empty list of names or values.
    pub(super) fn finish(self) -> (Option<HashMap<String, String>>, Option<Attributes>) {
        let names = self.names.into_iter().enumerate();
        let names: HashMap<_, _> = names.map(|(n, name)| (format!("#n{n}"), name)).collect();
        let values = self.values.into_iter().enumerate();
        let values: Attributes = values.map(|(n, value)| (format!(":v{n}"), value)).collect();
        (
            Some(names).filter(|names| !names.is_empty()),
            Some(values).filter(|values| !values.is_empty()),
        )
    }

    /// Holds for rows that have not expired; nothing to ask where nothing expires.
    fn alive(&mut self, table: Table, now: i64) -> Option<String> {
        let expiry = self.name(table.shape().expiry?);
        let now = self.value(items::number(now));
        Some(format!("(attribute_not_exists({expiry}) OR {expiry} > {now})"))
    }

    /// Which rows a query wants, of those that its keys find.
    pub(super) fn filter(&mut self, query: &Query, now: i64) -> String {
        let (name, kind) =
            (self.name(items::KIND), self.value(AttributeValue::S(query.kind.name().to_owned())));
        let mut wanted = format!("{name} = {kind}");
        if let Some(alive) = self.alive(query.table, now) {
            wanted += &format!(" AND {alive}");
        }
        if let Some(index) = query.index.filter(|index| items::is_shared(*index)) {
            let (name, index) = (
                self.name(items::UNLISTED),
                self.value(AttributeValue::S(index.shape().name.to_owned())),
            );
            wanted +=
                &format!(" AND (attribute_not_exists({name}) OR NOT contains({name}, {index}))");
        }
        wanted
    }

    pub(super) fn condition(&mut self, table: Table, condition: &Condition, now: i64) -> String {
        let partition = table.shape().partition.name;
        let asked = match condition {
            Condition::Absent => {
                let partition = self.name(partition);
                let absent = format!("attribute_not_exists({partition})");
                return match table.shape().expiry {
                    None => absent,
                    Some(expiry) => {
                        let (expiry, now) = (self.name(expiry), self.value(items::number(now)));
                        format!("{absent} OR {expiry} <= {now}")
                    }
                };
            }
            Condition::Exists => format!("attribute_exists({})", self.name(partition)),
            Condition::Revision(items::BARE_REVISION) => {
                let (partition, revision) = (self.name(partition), self.name(items::REVISION));
                format!("attribute_exists({partition}) AND attribute_not_exists({revision})")
            }
            Condition::Revision(revision) => {
                let name = self.name(items::REVISION);
                let revision = self.value(AttributeValue::N(revision.to_string()));
                format!("{name} = {revision}")
            }
            Condition::Is(name, value) => {
                let (name, value) = (self.name(name), self.value(items::from_value(value)));
                format!("{name} = {value}")
            }
        };
        match self.alive(table, now) {
            None => asked,
            Some(alive) => format!("{asked} AND {alive}"),
        }
    }

    /// Which keys a query wants; `None` if no key can be among them. DynamoDB refuses such
    /// questions, the other engines answer them.
    pub(super) fn key_condition(&mut self, query: &Query) -> Option<String> {
        let (partition, sort) = match query.index {
            None => (query.table.shape().partition, query.table.shape().sort),
            Some(index) => (index.shape().partition, index.shape().sort),
        };
        if !possible(&query.partition, limits::PARTITION_KEY_BYTES_MAX) {
            return None;
        }
        let name = self.name(partition.name);
        let value = self.value(items::from_part(&query.partition));
        let mut asked = format!("{name} = {value}");
        let Some(sort) = sort else { return Some(asked) };
        match &query.range {
            Range::All => {}
            Range::Prefix(prefix) if prefix.is_empty() => {}
            Range::Prefix(prefix) if prefix.len() > limits::SORT_KEY_BYTES_MAX => return None,
            Range::Prefix(prefix) => {
                let name = self.name(sort.name);
                let prefix = self.value(AttributeValue::S(prefix.clone()));
                asked += &format!(" AND begins_with({name}, {prefix})");
            }
            Range::Between(from, to) => {
                let from = from.as_ref().filter(|from| !is_empty(from));
                if to.as_ref().is_some_and(is_empty) {
                    return None;
                }
                if from.is_none() && to.is_none() {
                    return Some(asked);
                }
                let name = self.name(sort.name);
                let mut value = |part: &Part| self.value(items::from_part(part));
                match (from, to) {
                    (None, None) => {}
                    (Some(from), None) => asked += &format!(" AND {name} >= {}", value(from)),
                    (None, Some(to)) => asked += &format!(" AND {name} <= {}", value(to)),
                    (Some(from), Some(to)) if from > to => return None,
                    (Some(from), Some(to)) => {
                        let (from, to) = (value(from), value(to));
                        asked += &format!(" AND {name} BETWEEN {from} AND {to}");
                    }
                }
            }
        }
        Some(asked)
    }
}

fn possible(part: &Part, bytes_max: usize) -> bool {
    match part {
        Part::Number(_) => true,
        Part::Text(text) => !text.is_empty() && text.len() <= bytes_max,
    }
}

fn is_empty(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.is_empty())
}

/// A patch, ready to be sent.
#[derive(Debug)]
pub(super) struct Update {
    pub(super) update: String,
    pub(super) condition: String,
    pub(super) placeholders: Placeholders,
}

/// What happens to each attribute: DynamoDB refuses to hear of one twice.
#[derive(Debug, Default)]
struct Changes {
    set: BTreeMap<String, AttributeValue>,
    add: BTreeMap<String, i64>,
    remove: BTreeSet<String>,
}

pub(super) fn update(patch: &Patch, now: i64) -> Result<Update, StoreError> {
    let table = patch.key.table;
    let mut placeholders = Placeholders::default();
    let mut condition = placeholders.condition(table, &patch.condition, now);
    for (name, amount) in sums(patch)? {
        condition += &format!(" AND {}", summable(&mut placeholders, &name, amount));
    }

    let changes = changes(patch)?;
    let (owned, disowned) = ownership(patch);
    let name_in_derived = |placeholders: &mut Placeholders, name: &str| {
        let derived = placeholders.name(items::DERIVED);
        format!("{derived}.{}", placeholders.name(name))
    };
    let mut set = Vec::new();
    for (name, value) in changes.set {
        let (name, value) = (placeholders.name(&name), placeholders.value(value));
        set.push(format!("{name} = {value}"));
    }
    for name in disowned {
        let name = name_in_derived(&mut placeholders, name);
        let value = placeholders.value(AttributeValue::Bool(true));
        set.push(format!("{name} = {value}"));
    }
    let mut add = Vec::new();
    for (name, amount) in changes.add {
        let amount = placeholders.value(items::number(amount));
        add.push(format!("{} {amount}", placeholders.name(&name)));
    }
    let one = placeholders.value(items::number(1));
    add.push(format!("{} {one}", placeholders.name(items::REVISION)));
    let mut remove = Vec::new();
    for name in &changes.remove {
        remove.push(placeholders.name(name));
    }
    for name in owned {
        remove.push(name_in_derived(&mut placeholders, name));
    }
    let clauses = [("SET", set), ("ADD", add), ("REMOVE", remove)];
    let clauses = clauses.into_iter().filter(|(_, parts)| !parts.is_empty());
    let clauses: Vec<_> =
        clauses.map(|(verb, parts)| format!("{verb} {}", parts.join(", "))).collect();
    Ok(Update { update: clauses.join(" "), condition, placeholders })
}

/// Names, among those that keys and records share, which the record gets and which it loses.
fn ownership(patch: &Patch) -> (Vec<&'static str>, Vec<&'static str>) {
    if patch.key.table == Table::Ledger {
        return Default::default(); // a claim has all of them, and a bare one has no list of others
    }
    let is_set = |name: &str| patch.set.iter().any(|(set, _)| set == name);
    let is_removed = |name: &str| patch.remove.iter().any(|removed| removed == name);
    let is_summed = |name: &str| patch.add.iter().any(|(summed, _)| summed == name);
    let shared = items::shared_names(patch.key.table);
    let touched =
        shared.into_iter().filter(|name| is_set(name) || is_removed(name) || is_summed(name));
    touched.partition(|name| is_set(name) || !is_removed(name))
}

/// The amounts by name; several for one name are one.
fn sums(patch: &Patch) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut sums = BTreeMap::<String, i64>::new();
    for (name, amount) in &patch.add {
        let sum = sums.entry(name.to_string()).or_default();
        *sum = sum
            .checked_add(*amount)
            .ok_or_else(|| StoreError::Malformed(format!("cannot add to {name:?}")))?;
    }
    Ok(sums)
}

/// Holds where the sum stays an `i64`. DynamoDB would go on to 38 digits, which nothing reads
/// back; and what is not a number is not between two.
fn summable(placeholders: &mut Placeholders, name: &str, amount: i64) -> String {
    let least = i64::MIN.saturating_sub(amount.min(0));
    let most = i64::MAX.saturating_sub(amount.max(0));
    let name = placeholders.name(name);
    let (least, most) =
        (placeholders.value(items::number(least)), placeholders.value(items::number(most)));
    format!("(attribute_not_exists({name}) OR {name} BETWEEN {least} AND {most})")
}

/// Sums, then removals, then what is set: the last word on an attribute counts, as in memory.
/// Then the index entries and the expiry, which have to agree with the record's attributes.
fn changes(patch: &Patch) -> Result<Changes, StoreError> {
    let table = patch.key.table;
    let mut changes = Changes { add: sums(patch)?, ..Changes::default() };
    for name in &patch.remove {
        items::check_name(table, name)?;
        changes.add.remove(&**name);
        changes.remove.insert(name.to_string());
    }
    for (name, value) in &patch.set {
        items::check_name(table, name)?;
        changes.add.remove(&**name);
        changes.remove.remove(&**name);
        changes.set.insert(name.to_string(), items::from_value(value));
    }
    if let Some(moves) = &patch.moves {
        move_entries(&patch.key, moves, &mut changes)?;
        if let Some(expires) = moves.expires {
            move_expiry(table, expires, &mut changes)?;
        }
    }
    Ok(changes)
}

/// Sets the attributes of the new entries. Of the old ones only names that are never a record's
/// are removed: the rest may be the record's own, and the record takes them away itself.
fn move_entries(key: &Key, moves: &Moves, changes: &mut Changes) -> Result<(), StoreError> {
    let mut kept = Attributes::new();
    for (name, value) in moves.to.iter().flat_map(items::entry_attributes) {
        items::place(&mut kept, name, value)?;
    }
    let table = key.table;
    let never = items::never_a_records(table);
    for name in moves.from.iter().flat_map(|from| items::index_names(from.index)) {
        if never.contains(&name) && !kept.contains_key(name) {
            changes.remove.insert(name.to_owned());
        }
    }
    let before: Vec<_> = moves.from.iter().flat_map(items::entry_attributes).collect();
    let key = items::key_of(key);
    for (name, value) in &kept {
        match key.get(name) {
            Some(part) if part == value => {}
            Some(_) => return Err(items::disagree(name)),
            None => {
                let same = |(known, was): &(&str, AttributeValue)| known == name && was == value;
                changes.keep(name, value, before.iter().any(same))?;
            }
        }
    }
    match items::unlisted(table, &moves.to) {
        Some(names) => {
            changes.set.insert(items::UNLISTED.to_owned(), names);
        }
        None if table.indexes().any(items::is_shared) => {
            changes.remove.insert(items::UNLISTED.to_owned());
        }
        None => {}
    }
    Ok(())
}

fn move_expiry(
    table: Table,
    expires: Option<i64>,
    changes: &mut Changes,
) -> Result<(), StoreError> {
    match (expires, table.shape().expiry) {
        (None, None) => Ok(()),
        (None, Some(expiry)) if changes.set.contains_key(expiry) => Err(items::disagree(expiry)),
        (None, Some(expiry)) => {
            changes.remove.insert(expiry.to_owned());
            Ok(())
        }
        (Some(at), _) => changes.keep(items::expiry_of(table)?, &items::number(at), false),
    }
}

impl Changes {
    /// An index or the expiry needs this value, whatever the record does with its attribute.
    fn keep(
        &mut self,
        name: &str,
        value: &AttributeValue,
        is_there: bool,
    ) -> Result<(), StoreError> {
        let was_removed = self.remove.remove(name);
        match self.set.get(name) {
            Some(set) if set == value => Ok(()),
            Some(_) => Err(items::disagree(name)),
            None if self.add.contains_key(name) => Err(items::disagree(name)),
            None => {
                if was_removed || !is_there {
                    self.set.insert(name.to_owned(), value.clone());
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
