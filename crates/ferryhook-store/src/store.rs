//! The store as the rest of the program sees it: one repository for each noun.
//!
//! A repository's method is a verb of the domain and one commit. Nothing outside this crate
//! builds batches or keys.

use std::sync::Arc;

use ferryhook_core::activity::head::append;
use ferryhook_core::{Activity, Env, Timestamp};

use crate::StoreError;
use crate::batch::{Batch, Durability};
use crate::chains::Chains;
use crate::engine::{Answer, Engine, Row};
use crate::key::{IndexKey, Key};
use crate::note::Note;
use crate::query::{Page, Query};
use crate::record::{Record, Secrets, Stored};
use crate::repositories::{
    Accounts, Activities, Alerts, Answers, Attempts, Connections, DataKeys, Deliveries, Erasures,
    EventTypes, Events, Hooks, Inbox, Installation, Invitations, Keys, Ledger, Members,
    Notifications, OauthStates, PlanCounts, Plans, Rejections, Replays, Rollups, Runs, Schedules,
    Sessions, Sources, Subscriptions, Tickets, TokenKeys, UsageDays, Users,
};
use crate::vault::{self, Vault};

/// How often a line of the audit log is put behind another head, which other processes move on.
const CHAIN_TRIES_MAX: usize = 64;

/// Cheap to clone: clones share the engine.
#[derive(Debug, Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    env: Env,
    note: Option<Note>,
    vault: Option<Arc<Vault>>,
    chains: Arc<Chains>,
}

impl Store {
    pub fn new(engine: Arc<dyn Engine>, env: Env) -> Self {
        Self { engine, env, note: None, vault: None, chains: Arc::default() }
    }

    /// The same store with secrets sealed on the way in and opened on the way out. Without a vault
    /// they are stored as they are, and what is sealed cannot be read.
    pub fn sealed_by(self, vault: Arc<Vault>) -> Self {
        Self { vault: Some(vault), ..self }
    }

    /// The same store with a line for the audit log, which the next durable commit made through
    /// the handle (or a clone of it) takes along as its last action. Only that one: who changes
    /// two things in two commits notes twice. A commit that fails leaves the line for the next.
    pub fn noting(&self, activity: Activity) -> Self {
        Self { note: Some(Note::new(activity)), ..self.clone() }
    }

    /// Without a line for the log, and without a vault.
    pub(crate) fn bare(&self) -> Self {
        Self::new(self.engine.clone(), self.env.clone())
    }

    /// Whether the line that this handle was given stands in the log; true if it was given none.
    pub fn has_noted(&self) -> bool {
        self.note.as_ref().is_none_or(Note::is_written)
    }

    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    pub fn users(&self) -> Users<'_> {
        Users(self)
    }

    pub fn accounts(&self) -> Accounts<'_> {
        Accounts(self)
    }

    pub fn members(&self) -> Members<'_> {
        Members(self)
    }

    pub fn invitations(&self) -> Invitations<'_> {
        Invitations(self)
    }

    pub fn installation(&self) -> Installation<'_> {
        Installation(self)
    }

    pub fn keys(&self) -> Keys<'_> {
        Keys(self)
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    pub fn tickets(&self) -> Tickets<'_> {
        Tickets(self)
    }

    pub fn token_keys(&self) -> TokenKeys<'_> {
        TokenKeys(self)
    }

    pub fn oauth_states(&self) -> OauthStates<'_> {
        OauthStates(self)
    }

    pub fn plans(&self) -> Plans<'_> {
        Plans(self)
    }

    pub fn subscriptions(&self) -> Subscriptions<'_> {
        Subscriptions(self)
    }

    pub fn plan_counts(&self) -> PlanCounts<'_> {
        PlanCounts(self)
    }

    pub fn event_types(&self) -> EventTypes<'_> {
        EventTypes(self)
    }

    pub fn rollups(&self) -> Rollups<'_> {
        Rollups(self)
    }

    pub fn usage(&self) -> UsageDays<'_> {
        UsageDays(self)
    }

    pub fn sources(&self) -> Sources<'_> {
        Sources(self)
    }

    pub fn connections(&self) -> Connections<'_> {
        Connections(self)
    }

    pub fn events(&self) -> Events<'_> {
        Events(self)
    }

    pub fn erasures(&self) -> Erasures<'_> {
        Erasures(self)
    }

    /// Sees to it that nothing is left of what was erased before; see [`Engine::scrub`].
    pub async fn scrub(&self) -> Result<(), StoreError> {
        self.engine.scrub().await
    }

    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(self)
    }

    pub fn rejections(&self) -> Rejections<'_> {
        Rejections(self)
    }

    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries(self)
    }

    pub fn inbox(&self) -> Inbox<'_> {
        Inbox(self)
    }

    pub fn attempts(&self) -> Attempts<'_> {
        Attempts(self)
    }

    pub fn replays(&self) -> Replays<'_> {
        Replays(self)
    }

    pub fn schedules(&self) -> Schedules<'_> {
        Schedules(self)
    }

    pub fn runs(&self) -> Runs<'_> {
        Runs(self)
    }

    pub fn activities(&self) -> Activities<'_> {
        Activities(self)
    }

    pub fn alerts(&self) -> Alerts<'_> {
        Alerts(self)
    }

    pub fn answers(&self) -> Answers<'_> {
        Answers(self)
    }

    pub fn data_keys(&self) -> DataKeys<'_> {
        DataKeys(self)
    }

    pub fn notifications(&self) -> Notifications<'_> {
        Notifications(self)
    }

    pub fn hooks(&self) -> Hooks<'_> {
        Hooks(self)
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.env.now()
    }

    pub(crate) async fn find<T: Record>(&self, key: &Key) -> Result<Option<Stored<T>>, StoreError> {
        match self.engine.get(key).await? {
            Some(row) => self.read(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The one row that has this index entry. An index of DynamoDB lags a moment behind its
    /// table: what was written just now may not be found yet, or be found as it was.
    pub(crate) async fn find_by<T: Record>(
        &self,
        entry: IndexKey,
    ) -> Result<Option<Stored<T>>, StoreError> {
        let mut query = Query::index(T::KIND, entry.index, entry.partition);
        if let Some(sort) = entry.sort {
            query = query.exactly(sort);
        }
        self.first(query).await
    }

    /// The first row that a query finds. A page may be empty and still have a next one, where
    /// something has expired or was deleted.
    pub(crate) async fn first<T: Record>(
        &self,
        query: Query,
    ) -> Result<Option<Stored<T>>, StoreError> {
        let mut query = query.limit(1);
        loop {
            let page = self.engine.query(query.clone()).await?;
            if let Some(row) = page.rows.into_iter().next() {
                return self.read(row).await.map(Some);
            }
            if page.next.is_none() {
                return Ok(None);
            }
            query.after = page.next;
        }
    }

    pub(crate) async fn list<T: Record>(
        &self,
        query: Query,
    ) -> Result<Page<Stored<T>>, StoreError> {
        let Page { mut rows, next } = self.engine.query(query).await?;
        if let Some(secrets) = T::SECRETS {
            Box::pin(self.unseal(secrets, &mut rows)).await?;
        }
        let rows = rows.into_iter().map(Stored::from_row);
        Ok(Page { rows: rows.collect::<Result<_, _>>()?, next })
    }

    /// A page that is short only where there are no more rows, however much lies between them that
    /// has expired or was deleted.
    pub(crate) async fn list_full<T: Record>(
        &self,
        mut query: Query,
    ) -> Result<Page<Stored<T>>, StoreError> {
        let (limit, mut rows) = (query.limit, Vec::new());
        loop {
            let page = self.list(query.clone().limit(limit - rows.len())).await?;
            rows.extend(page.rows);
            if page.next.is_none() || rows.len() == limit {
                return Ok(Page { rows, next: page.next });
            }
            query.after = page.next;
        }
    }

    async fn read<T: Record>(&self, mut row: Row) -> Result<Stored<T>, StoreError> {
        if let Some(secrets) = T::SECRETS {
            Box::pin(self.unseal(secrets, std::slice::from_mut(&mut row))).await?;
        }
        Stored::from_row(row)
    }

    async fn unseal(&self, secrets: Secrets, rows: &mut [Row]) -> Result<(), StoreError> {
        match &self.vault {
            Some(vault) => vault.open_rows(secrets, rows).await,
            None => match rows.iter().find(|row| vault::has_sealed(secrets, row)) {
                Some(row) => Err(StoreError::corrupt(row.kind, "its secrets are sealed")),
                None => Ok(()),
            },
        }
    }

    /// Durable when it returns.
    pub(crate) fn commit(&self, batch: Batch) -> Answer<'_, ()> {
        match &self.note {
            Some(note) if !batch.is_empty() => Box::pin(self.commit_noting(note, batch)),
            _ => self.write(batch, Durability::Synced),
        }
    }

    /// Visible when it returns, and durable with the next sync: for what a crash may undo because
    /// it would be done again.
    pub(crate) fn commit_buffered(&self, batch: Batch) -> Answer<'_, ()> {
        self.write(batch, Durability::Buffered)
    }

    async fn commit_noting(&self, note: &Note, batch: Batch) -> Result<(), StoreError> {
        let Some(activity) = note.take() else {
            return self.write(batch, Durability::Synced).await;
        };
        let done = self.commit_chained(batch, &activity).await;
        if done.is_err() {
            note.give_back(activity);
        }
        done
    }

    /// A line for the audit log, alone.
    pub(crate) async fn commit_line(&self, activity: &Activity) -> Result<(), StoreError> {
        self.commit_chained(Batch::new(), activity).await
    }

    /// The line goes behind the last of its account. Who finds that another line has come in
    /// between tries again behind that; what is refused for another reason is refused.
    async fn commit_chained(&self, batch: Batch, activity: &Activity) -> Result<(), StoreError> {
        let account = activity.account_id;
        let _turn = self.chains.turn(account).await;
        let mut head = self.activities().head(account).await?;
        let mut tries = 0;
        loop {
            let Some(step) = batch.copy() else {
                return self.write(batch, Durability::Synced).await;
            };
            // Last, so that a refusal names the place that the caller knows.
            let place = step.actions().len();
            let step = match &head {
                Some(was) => {
                    let (line, now) = append(Ok(was), activity.clone(), self.now());
                    step.insert(&line).replace(was, &now)
                }
                None => {
                    let before = self.activities().before(account).await?;
                    let (line, now) = append(Err(&before), activity.clone(), self.now());
                    step.insert(&line).insert(&now)
                }
            };
            tries += 1;
            match self.write(step, Durability::Synced).await {
                Err(error) if error.refused_at(place) || error.refused_at(place + 1) => {
                    let seen = self.activities().head(account).await?;
                    let revision = |head: &Option<Stored<_>>| head.as_ref().map(|h| h.revision);
                    // A line that is there already would be refused behind every head.
                    if tries == CHAIN_TRIES_MAX || revision(&seen) == revision(&head) {
                        return Err(error);
                    }
                    head = seen;
                }
                other => return other,
            }
        }
    }

    /// What has no secrets, as no event has, goes straight to the engine.
    fn write(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        match &self.vault {
            Some(vault) if batch.has_secrets() => Box::pin(async move {
                let sealed = vault.seal(batch).await?;
                self.engine.commit(sealed, durability).await
            }),
            _ => self.engine.commit(batch, durability),
        }
    }

    pub(crate) async fn insert<T: Record>(&self, record: &T) -> Result<(), StoreError> {
        self.commit(Batch::new().insert(record)).await
    }

    /// Writes `now` over `was` and gives it back as the next write must know it.
    pub(crate) async fn replace<T: Record>(
        &self,
        was: &Stored<T>,
        now: T,
    ) -> Result<Stored<T>, StoreError> {
        self.commit(Batch::new().replace(was, &now)).await?;
        Ok(was.followed_by(now))
    }

    pub(crate) async fn delete<T: Record>(&self, was: &Stored<T>) -> Result<(), StoreError> {
        self.commit(Batch::new().delete(was)).await
    }
}

impl<T> Stored<T> {
    /// What a successful replacement has left in the store: every write counts one up.
    pub(crate) fn followed_by(&self, now: T) -> Self {
        Self { record: now, revision: self.revision + 1 }
    }
}
