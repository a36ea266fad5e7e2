//! JavaScript: a transform as a program, in a sandbox.
//!
//! A script is compiled when it is saved, and run from that bytecode in a runtime and a context
//! that are made for one event and thrown away with it: nothing passes from one run to another.
//! There is no I/O, no parser (`eval`), no clock but the event's own, and bounds on memory, stack,
//! processor time and output. Three dialects are understood: `addHandler("transform", …)`,
//! `function handler(webhook)` and `function transform(payload)`.
//!
//! Time is watched by the engine once in some thousand instructions. Built-ins whose work grows
//! with what they are given are replaced (`pieces/guard.js`), and what asks for memory looks as
//! well (`heap`), so that every run ends by itself. What is left are operators on very long texts
//! (`a === b`, `all[a]`, `+a`): a loop of those may overstay its time, by a minute or more at the
//! worst, which is why runs have threads of their own and somebody who watches those.

mod bytecode;
mod engine;
mod heap;
mod host;
mod pieces;
mod reply;
mod request;
mod thrown;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use super::error::BadTransform;
use super::{Shaped, TransformError};
use crate::{Event, Map};
use bytecode::Bytecode;
use engine::Engine;
use host::Console;
use pieces::Needs;
use request::Given;
use watch::Watch;

/// What scripts are called in positions.
const FILE: &str = "transform.js";

/// Compiled; clones share the bytecode.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// What runs before it, it itself, and what looks for its handler.
    prelude: Arc<Bytecode>,
    code: Arc<Bytecode>,
    pick: Arc<Bytecode>,
    needs: Needs,
}

impl Script {
    pub(super) fn parse(fields: &Map) -> Result<Self, BadTransform> {
        super::error::only(fields, "", &["type", "code"])?;
        let bad = |message: &str| BadTransform::new("/code", message);
        let code = fields.get("code").and_then(serde_json::Value::as_str);
        let code = code.ok_or_else(|| bad("must be the text of a script"))?;
        if code.contains('\0') {
            return Err(bad("a script must not have NUL in it"));
        }
        if let Some((place, literal)) = pieces::big_integer(code) {
            return Err(BadTransform {
                position: Some(position(code, place)),
                ..bad(&format!("{literal} is a BigInt, which JSON does not have"))
            });
        }
        // Found out when it runs as well, but better now.
        if !["addHandler", "handler", "transform"].iter().any(|name| code.contains(name)) {
            return Err(bad(NO_HANDLER));
        }
        let compiled = engine::compile(code)?;
        let (needs, prelude) = pieces::prelude(code);
        Ok(Self {
            prelude: Arc::new(engine::compile_own(&prelude)?),
            code: Arc::new(compiled),
            pick: Arc::new(engine::compile_own(pieces::PICK)?),
            needs,
        })
    }

    pub(super) fn apply(&self, event: &Event, most: Duration) -> Result<Shaped, TransformError> {
        let console = Console::default();
        let given = Given::of(event)?;
        let watch = Watch::start(given.bytes(), most);
        let outcome = Engine::new(&given, &watch)
            .and_then(|engine| engine.run(self, event, &given, &watch, &console));
        let console = console.take();
        match outcome {
            Ok(outcome) => Ok(Shaped { outcome, console }),
            Err(fault) => Err(TransformError { fault, console }),
        }
    }
}

const NO_HANDLER: &str = "the script has no handler: write addHandler(\"transform\", (request) => \
                          request), function handler(webhook) or function transform(payload)";

/// Line and column of a byte, both from 1.
fn position(text: &str, place: usize) -> (u32, u32) {
    let before = &text[..place];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
