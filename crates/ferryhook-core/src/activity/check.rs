//! Whether an audit log is what was written: reads its lines in order, and tells each place where
//! it is not.
//!
//! A function of the lines and the heads alone; whoever has the store feeds it. After a fault it
//! goes on with what the line says of itself, so that one change is told once and not for every
//! line behind it.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::chain::{self, Link};
use super::head::{AuditHead, Before};
use crate::id::ActivityId;
use crate::{Activity, Id, limits};

/// One place where the log is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditFault)]
pub struct Fault {
    pub kind: FaultKind,
    /// The line it shows at; absent at the end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_id: Option<ActivityId>,
    /// The number it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AuditFaultKind)]
pub enum FaultKind {
    /// The line does not say what it said.
    Changed,
    /// Lines are missing.
    Removed,
    /// The line was not written by us, or not there.
    Inserted,
    /// The line stands in another place than it was written in.
    Moved,
    /// What was there before the chain began has changed.
    BeforeChanged,
    /// The head does not fit the lines.
    Head,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}")?;
        }
        match self.activity_id {
            Some(id) if self.line.is_some() => write!(f, " ({id}): {}", self.message),
            Some(id) => write!(f, "{id}: {}", self.message),
            None if self.line.is_some() => write!(f, ": {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditReport)]
pub struct Report {
    /// Lines of the chain that were read.
    pub lines: u64,
    /// Lines from before the chain began.
    pub before: u64,
    /// The number and the hash of the last line: whoever keeps them elsewhere can tell later
    /// whether the whole log was written anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_hash: Option<String>,
    pub faults: Vec<Fault>,
    /// More than are told here.
    pub more_faults: bool,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }
}

/// The last line that was read.
#[derive(Debug, Clone)]
struct Last {
    number: u64,
    hash: String,
    id: Id<Activity>,
}

/// Reads line after line.
#[derive(Debug, Clone, Default)]
pub struct Check {
    head: Option<AuditHead>,
    last: Option<Last>,
    before: Before,
    /// The last line that was read, good or not.
    seen: Option<Id<Activity>>,
    /// Begun in the middle, so that nothing is known of what was before.
    goes_on: bool,
    report: Report,
}

impl Check {
    /// From the first line. The head is as it was before the first line was read.
    pub fn new(head: Option<AuditHead>) -> Self {
        Self { head, ..Self::default() }
    }

    /// From behind this line, which an earlier check has passed.
    pub fn behind(line: &Activity, head: Option<AuditHead>) -> Self {
        let mut check = Self::new(head);
        check.goes_on = true;
        check.line(line);
        check.report = Report { faults: check.report.faults, ..Report::default() };
        check
    }

    /// Where another check can go on: behind the last line, if that is as it should be. Behind any
    /// other nobody could tell what is missing.
    pub fn resting_place(&self) -> Option<Id<Activity>> {
        self.last.as_ref().map(|last| last.id).filter(|id| self.seen == Some(*id))
    }

    /// The next line, in the order of ids.
    pub fn line(&mut self, line: &Activity) {
        self.seen = Some(line.id);
        let (Some(number), Some(own)) = (line.number, &line.hash) else {
            return self.unchained(line);
        };
        if self.last.is_none() && !self.goes_on {
            self.begin(line, number);
        }
        let link = Link { number, previous: line.previous_hash.as_deref() };
        let is_intact = chain::hash(line, link) == *own;
        if !is_intact {
            let said = "it does not say what was written";
            self.fault(FaultKind::Changed, Some(line.id), Some(number), said);
        }
        self.report.lines += 1;
        let behind = self.last.as_ref().map(|last| (last.number, last.hash.clone()));
        if let Some((before, hash)) = behind
            && !self.follows(line, number, before, &hash)
        {
            return; // the next one is measured by what stood here before
        }
        let expected = self.head.as_ref().filter(|head| head.lines == number);
        if expected.is_some_and(|head| head.hash != *own) {
            let said = "the head knows it with another hash";
            self.fault(FaultKind::Changed, Some(line.id), Some(number), said);
        }
        self.last = Some(Last { number, hash: own.clone(), id: line.id });
    }

    /// Whether it stands somewhere behind that one.
    fn follows(&mut self, line: &Activity, number: u64, before: u64, hash: &str) -> bool {
        let next = before + 1;
        if number > next {
            let said = match number - next {
                1 => format!("line {next} is missing before it"),
                _ => format!("lines {next} to {} are missing before it", number - 1),
            };
            self.fault(FaultKind::Removed, Some(line.id), Some(number), said);
        } else if number < next {
            let said = format!("it stands behind line {before}");
            self.fault(FaultKind::Moved, Some(line.id), Some(number), said);
        } else if line.previous_hash.as_deref() != Some(hash) {
            let said = format!("it was not written behind line {before} as that is now");
            self.fault(FaultKind::Changed, Some(line.id), Some(number), said);
        }
        number >= next
    }

    fn unchained(&mut self, line: &Activity) {
        match self.last.is_some() || self.goes_on {
            true => {
                let said = "it is not part of the chain";
                self.fault(FaultKind::Inserted, Some(line.id), line.number, said);
            }
            false => {
                self.before = self.before.with(line);
                self.report.before += 1;
            }
        }
    }

    /// The first line of the chain: it holds fast what was before it.
    fn begin(&mut self, line: &Activity, number: u64) {
        if number != 1 {
            let said = match number {
                2 => "line 1 is missing before it".to_owned(),
                _ => format!("lines 1 to {} are missing before it", number - 1),
            };
            self.fault(FaultKind::Removed, Some(line.id), Some(number), said);
        } else if line.previous_hash != self.before.hash {
            let expected = self.head.as_ref().map(|head| head.before);
            let found = self.before.lines;
            let said = match expected.filter(|expected| *expected != found) {
                Some(expected) => format!(
                    "{expected} lines were there before the chain began, and now there are {found}"
                ),
                None => "the lines from before the chain began are not what they were".to_owned(),
            };
            self.fault(FaultKind::BeforeChanged, Some(line.id), Some(number), said);
        }
    }

    /// So far, for one who goes on another time.
    pub fn so_far(mut self) -> Report {
        self.report.last_line = self.last.as_ref().map(|last| last.number);
        self.report.last_hash = self.last.map(|last| last.hash);
        self.report
    }

    /// There are no more lines. `head` is as it is now, read behind the last of them.
    pub fn end(mut self, head: Option<&AuditHead>) -> Report {
        let last_id = self.last.as_ref().map(|last| last.id);
        let last = self.last.as_ref().map_or(0, |last| last.number);
        // What the log had when the check began must be there; what came since may be.
        let least = self.head.as_ref().map_or(0, |head| head.lines);
        if last < least {
            let said = match least - last {
                1 => format!("line {least}, the last, is missing"),
                _ => format!("lines {} to {least}, the last, are missing", last + 1),
            };
            self.fault(FaultKind::Removed, None, Some(least), said);
        }
        match head {
            None if last > 0 || self.head.is_some() => {
                let said = "the head of the log is missing";
                self.fault(FaultKind::Head, None, None, said);
            }
            Some(head) if head.lines < last => {
                let said = format!("the log has {last} lines, its head knows of {}", head.lines);
                self.fault(FaultKind::Inserted, last_id, Some(last), said);
            }
            Some(head) if head.lines == last => {
                let is_last = self.last.as_ref().is_some_and(|last| last.hash == head.hash);
                // A head that has not moved was compared when the line was read.
                if !is_last && self.head.as_ref().is_none_or(|before| before.lines != last) {
                    let said = "the head knows it with another hash";
                    self.fault(FaultKind::Changed, last_id, Some(last), said);
                }
            }
            _ => {}
        }
        self.so_far()
    }

    fn fault(
        &mut self,
        kind: FaultKind,
        activity_id: Option<Id<Activity>>,
        line: Option<u64>,
        message: impl Into<String>,
    ) {
        if self.report.faults.len() == limits::AUDIT_FAULTS_TOLD {
            self.report.more_faults = true;
            return;
        }
        self.report.faults.push(Fault { kind, activity_id, line, message: message.into() });
    }
}

#[cfg(test)]
mod tests;
