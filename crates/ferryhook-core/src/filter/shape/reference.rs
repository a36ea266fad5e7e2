//! `$ref`: another value of the same part. `[$index]` in it is the place in the list that is being
//! gone through; the second one the place in the list inside of that.

use std::ops::ControlFlow;

use super::super::Asked;
use crate::json::{Kind, Value};
use crate::json_path::{BadPath, Effort, Path, Stop};

const INDEX: &str = "[$index]";

#[derive(Debug, Clone)]
pub(in super::super) struct Reference {
    pub(in super::super) written: String,
    /// What stands between the indexes.
    paths: Vec<Path>,
}

impl Reference {
    pub(in super::super) fn parse(written: &str) -> Result<Self, BadPath> {
        let steps = match written.strip_prefix('$') {
            Some(steps) if !written.starts_with("$index") => steps.to_owned(),
            _ if written.starts_with('[') => written.to_owned(),
            _ => format!(".{written}"),
        };
        if written.is_empty() {
            return Err(BadPath { at: 0, message: "a reference is a path".to_owned() });
        }
        let paths = steps.split(INDEX).map(Path::parse_steps).collect::<Result<_, _>>()?;
        Ok(Self { written: written.to_owned(), paths })
    }

    /// The first value that it leads to.
    pub(super) fn resolve<'d>(
        &self,
        root: Option<Value<'d>>,
        indexes: &[usize],
        effort: &Effort,
    ) -> Asked<Option<Value<'d>>> {
        let mut here = root;
        for (number, path) in self.paths.iter().enumerate() {
            if number > 0 {
                let list = here.filter(|here| here.kind() == Kind::List);
                let index = indexes.get(number - 1);
                here = list.zip(index).and_then(|(list, index)| list.item(*index));
                effort.spend(1 + index.copied().unwrap_or(0))?;
            }
            let Some(from) = here.take() else { return Asked::Continue(None) };
            let flow = path.select(from, effort, &mut |value| {
                here = Some(value);
                ControlFlow::Break(Stop::Enough)
            });
            if let ControlFlow::Break(Stop::TooMuch) = flow {
                return Asked::Break(Stop::TooMuch);
            }
        }
        Asked::Continue(here)
    }
}
