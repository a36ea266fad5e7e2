//! What an event brought, kept for a moment: to learn from, to see whether it is as declared, or both.
//!
//! Made at the door and therefore cheap: a body is shared, a payload is written as JSON and given up
//! as soon as it is too large. Read by the flush, on a thread where that holds up nobody.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use ferryhook_core::event_type::declared::{Budget, Mismatch};
use ferryhook_core::{Event, Id, Source};
use serde_json::Value;

use crate::limits::TYPE_SAMPLE_BYTES_MAX;
use crate::routes::{Declaration, no_json};

#[derive(Debug)]
pub(super) struct Sample {
    source: Id<Source>,
    event: Id<Event>,
    pub(super) json: Bytes,
    is_taught: bool,
    check: Option<Arc<Declaration>>,
}

/// What samples have come to.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) lessons: Vec<Lesson>,
    pub(super) mismatches: u64,
    /// The first of them.
    pub(super) mismatch: Option<Mismatch>,
    pub(super) unchecked: u64,
}

/// Something to learn from.
#[derive(Debug)]
pub(super) struct Lesson {
    pub(super) source: Id<Source>,
    pub(super) event: Id<Event>,
    pub(super) content: Value,
}

impl Sample {
    /// Nothing where it is too large, or where there is nothing to learn and nothing to check.
    pub(super) fn of(
        event: &Event,
        is_taught: bool,
        check: Option<Arc<Declaration>>,
    ) -> Option<Self> {
        let json = match &event.payload {
            Some(payload) => {
                let mut text = Bounded(Vec::new());
                serde_json::to_writer(&mut text, payload).ok()?;
                text.0.into()
            }
            None => {
                let body = event.body.as_bytes();
                let is_wanted = check.is_some() || may_teach(body);
                (is_wanted && body.len() <= TYPE_SAMPLE_BYTES_MAX).then(|| body.clone())?
            }
        };
        Some(Self { source: event.source_id, event: event.id, json, is_taught, check })
    }

    /// How many of these are to be checked.
    pub(super) fn checks(samples: &[Self]) -> u64 {
        samples.iter().filter(|sample| sample.check.is_some()).count() as u64
    }

    pub(super) fn bytes(samples: &[Self]) -> usize {
        samples.iter().map(|sample| sample.json.len()).sum()
    }

    /// Takes a while if there are many, or if they are checked.
    pub(super) fn read(samples: Vec<Self>) -> Read {
        let (mut read, mut budget) = (Read::default(), Budget::default());
        for Self { source, event, json, is_taught, check } in samples {
            let content = serde_json::from_slice::<Value>(&json);
            if let Some(declared) = check {
                let wrong = match &content {
                    Ok(content) => declared
                        .spend(content, &mut budget)
                        .map(|_| declared.mismatches(content).into_iter().next()),
                    Err(_) => Ok(Some(no_json())),
                };
                match wrong {
                    Ok(None) => {}
                    Ok(Some(wrong)) => {
                        read.mismatches += 1;
                        read.mismatch.get_or_insert(wrong);
                    }
                    Err(_) => read.unchecked += 1,
                }
            }
            if let (true, Ok(content @ (Value::Object(_) | Value::Array(_)))) = (is_taught, content)
            {
                read.lessons.push(Lesson { source, event, content });
            }
        }
        read
    }
}

fn may_teach(body: &[u8]) -> bool {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}

/// Takes no more than a sample may have.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.0.len() + more.len() > TYPE_SAMPLE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
