//! Apply: makes the stored sources and connections those that a manifest wants.
//!
//! Called by the command line, in the server's process where one runs, and by whoever posts a
//! manifest to the API. Everything is checked before anything is written; then each source with
//! its connections is one commit. What is there already is left as it is, so a run that was
//! interrupted is run again.

mod diff;
mod hand;
mod order;
mod outcome;

use std::collections::HashMap;
use std::fmt;

use ferryhook_core::source::{ConnectionType, Status};
use ferryhook_core::{Connection, Env, Id, Source, limits};
use ferryhook_net::client::Guard;
use ferryhook_store::repositories::Edit;
use ferryhook_store::{Slice, Store, StoreError, Stored};
use serde::{Deserialize, Serialize};

use crate::manifest::{Complaint, Manifest, Secrets};
use crate::owner::{self, Owner};
use crate::problem::Problem;
use crate::sources::Unwritten;

use diff::Difference;
use hand::{Hand, stopped};

pub(crate) use diff::{new_connection, removal_edits, wanted_connection, wanted_source};
pub use order::{ManifestOrder, apply};
pub use outcome::{Change, Kind, Outcome, Thing, What};

/// Counters are written beside us. Whoever is refused this often has another reason.
pub(crate) const TRIES_MAX: usize = 16;

/// What is asked for, as it travels to the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// What complaints call the file.
    pub file: String,
    pub text: String,
    /// Those that the text refers to, from the environment of whoever asks.
    pub secrets: Secrets,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Delete what is not in the file.
    pub prune: bool,
}

/// Told after each commit, so that caches forget what they knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub source: Id<Source>,
    /// It was paused and is not any more: what it held may go.
    pub resumed: bool,
    /// Those of its connections that were written.
    pub connections: Vec<Id<Connection>>,
}

#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("{}", Mistakes(file, complaints))]
    Manifest { file: String, complaints: Vec<Complaint> },
    #[error("there are {count} {kind}s called {name:?}, so the file cannot say which one it means")]
    Ambiguous { kind: Kind, name: String, count: usize },
    #[error(
        "stopped at source {name:?}; {done} sources before it are as the file says, and running \
         it again goes on from there: {cause}"
    )]
    Stopped { name: String, done: usize, cause: StoreError },
    #[error("stopped at source {name:?}: {}", problem.detail())]
    Refused { name: String, problem: Box<Problem> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `bell` is rung after each commit.
pub async fn run(
    store: &Store,
    env: &Env,
    guard: &Guard,
    asked: &Asked,
    bell: &(dyn Fn(Changed) + Send + Sync),
) -> Result<Outcome, ApplyError> {
    let manifest = Manifest::parse(&asked.text, &asked.secrets, guard)
        .map_err(|complaints| ApplyError::Manifest { file: asked.file.clone(), complaints })?;
    let owner = match asked.dry_run {
        true => owner::find(store).await?,
        false => Some(owner::ensure(store, env).await?),
    };
    // Without an owner there is nothing yet, and a dry run makes none.
    let owner = owner.unwrap_or_else(|| Owner { user: Id::new(env), account: Id::new(env) });
    let applying = Applying { hand: Hand::Operator(store), owner, env, asked, bell };
    applying.run(&manifest).await
}

/// A source with its connections, as they were read.
#[derive(Debug, Clone)]
pub(crate) struct Existing {
    pub(crate) source: Stored<Source>,
    pub(crate) connections: Vec<Stored<Connection>>,
}

struct Applying<'a> {
    hand: Hand<'a>,
    owner: Owner,
    env: &'a Env,
    asked: &'a Asked,
    bell: &'a (dyn Fn(Changed) + Send + Sync),
}

impl Applying<'_> {
    async fn run(&self, manifest: &Manifest) -> Result<Outcome, ApplyError> {
        let Self { owner, env, asked, .. } = *self;
        let mut present = read(self.hand.store(), owner).await?;
        require_one_of_each_name(&present)?;

        let mut outcome = Outcome::new(asked.dry_run);
        for (done, spec) in manifest.sources.iter().enumerate() {
            let was = present.iter().position(|existing| existing.source.name == spec.name);
            let was = was.map(|place| present.swap_remove(place));
            let differ = |was: Option<&Existing>| diff::source(spec, was, owner, asked.prune, env);
            let made = self.make(was, differ).await;
            outcome.add(made.map_err(|cause| stopped(cause, &spec.name, done))?);
        }
        present.sort_by(|one, other| one.source.name.cmp(&other.source.name));
        for (gone, existing) in present.into_iter().enumerate() {
            if !asked.prune {
                outcome.left.push(Thing::source(&existing.source));
                continue;
            }
            let name = existing.source.name.clone();
            let differ = |was: Option<&Existing>| diff::removal(was, env);
            let done = manifest.sources.len() + gone;
            let made = self.make(Some(existing), differ).await;
            outcome.add(made.map_err(|cause| stopped(cause, &name, done))?);
        }
        Ok(outcome)
    }

    /// Writes the difference for one source. If somebody has written in between (a counter, as a
    /// rule), looks again and takes the difference to what is there then.
    async fn make(
        &self,
        mut was: Option<Existing>,
        differ: impl Fn(Option<&Existing>) -> Difference,
    ) -> Result<Difference, Unwritten> {
        let mut tries = 1;
        loop {
            let difference = differ(was.as_ref());
            if self.asked.dry_run {
                return Ok(difference);
            }
            match self.write(&difference).await {
                Err(Unwritten::Store(error)) if error.is_refused() && tries < TRIES_MAX => {
                    tries += 1;
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(difference),
            }
            if let Some(existing) = was {
                was = read_again(self.hand.store(), self.owner, existing.source.id).await?;
            }
        }
    }

    /// One commit, unless more is deleted than fits beside the rest.
    async fn write(&self, difference: &Difference) -> Result<(), Unwritten> {
        let store = self.hand.noting(difference);
        for edits in difference.edits.chunks(limits::EDITS_MAX) {
            self.hand.edit(&store, edits).await?;
            if let Some(changed) = changed(edits) {
                let (source, connections) = (changed.source, changed.connections.len());
                tracing::info!(source.id = %source, connections, "configuration changed");
                (self.bell)(changed);
            }
        }
        Ok(())
    }
}

/// What a change of these means for those who remember them.
pub(crate) fn changed(edits: &[Edit]) -> Option<Changed> {
    let mut changed: Option<Changed> = None;
    for edit in edits {
        let (source, connection, resumed) = match edit {
            Edit::CreateSource(source) => (source.id, None, false),
            Edit::ReplaceSource(was, now) => {
                let resumed = was.status == Status::Paused && now.status == Status::Active;
                (now.id, None, resumed)
            }
            Edit::CreateConnection(connection) | Edit::ReplaceConnection(_, connection) => {
                (connection.source_id, Some(connection.id), false)
            }
        };
        let changed =
            changed.get_or_insert(Changed { source, resumed: false, connections: vec![] });
        changed.resumed |= resumed;
        changed.connections.extend(connection);
    }
    changed
}

/// What a manifest speaks about: the sources that are posted to.
pub(crate) async fn read(store: &Store, owner: Owner) -> Result<Vec<Existing>, StoreError> {
    let mut present = Vec::new();
    let mut after = None;
    loop {
        let slice = Slice::default().limit(limits::PAGE_MAX).after(after);
        let page = store.sources().list_by_user(owner.user, slice).await?;
        for source in page.rows {
            let ours = source.account_id == owner.account;
            if ours && source.connection_type == ConnectionType::Webhook {
                let connections = lasting_connections(store, source.id).await?;
                present.push(Existing { source, connections });
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(present);
        }
    }
}

async fn read_again(
    store: &Store,
    owner: Owner,
    id: Id<Source>,
) -> Result<Option<Existing>, StoreError> {
    let source = store.sources().find_owned(owner.user, id).await?;
    let Some(source) = source.filter(|source| source.status != Status::Deleted) else {
        return Ok(None);
    };
    Ok(Some(Existing { source, connections: lasting_connections(store, id).await? }))
}

/// Without those of somebody who happens to listen: no file has them, and none removes them.
async fn lasting_connections(
    store: &Store,
    source: Id<Source>,
) -> Result<Vec<Stored<Connection>>, StoreError> {
    let mut connections = connections_of(store, source).await?;
    connections.retain(|connection| !connection.is_listened_to());
    Ok(connections)
}

/// By name: their ids say nothing to whoever reads the outcome.
pub(crate) async fn connections_of(
    store: &Store,
    source: Id<Source>,
) -> Result<Vec<Stored<Connection>>, StoreError> {
    let mut connections = Vec::new();
    let mut after = None;
    loop {
        let slice = Slice::default().limit(limits::PAGE_MAX).after(after);
        let page = store.connections().list_by_source(source, slice).await?;
        connections.extend(page.rows);
        after = page.next;
        if after.is_none() {
            connections.sort_by(|one, other| one.name.cmp(&other.name));
            return Ok(connections);
        }
    }
}

fn require_one_of_each_name(present: &[Existing]) -> Result<(), ApplyError> {
    require_distinct(Kind::Source, present.iter().map(|existing| &*existing.source.name))?;
    present.iter().try_for_each(|existing| {
        let names = existing.connections.iter().map(|connection| &*connection.name);
        require_distinct(Kind::Connection, names)
    })
}

fn require_distinct<'a>(
    kind: Kind,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ApplyError> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    match counts.into_iter().find(|(_, count)| *count > 1) {
        Some((name, count)) => Err(ApplyError::Ambiguous { kind, name: name.to_owned(), count }),
        None => Ok(()),
    }
}

/// One line for each, in a form that editors jump to.
struct Mistakes<'a>(&'a str, &'a [Complaint]);

impl fmt::Display for Mistakes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(file, complaints) = self;
        write!(f, "{file} has mistakes, so nothing was changed")?;
        complaints.iter().try_for_each(|complaint| write!(f, "\n{file}:{complaint}"))
    }
}

#[cfg(test)]
mod tests;
