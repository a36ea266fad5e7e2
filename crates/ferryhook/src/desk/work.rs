//! What the data plane does for those who have found what they speak of.

use std::net::IpAddr;

use ferryhook_api::problem::{FieldError, Problem};
use ferryhook_api::replays::What;
use ferryhook_api::works::{Doing, Filed, Refusal, Rehearsed, Works};
use ferryhook_core::event::Status;
use ferryhook_core::explained::{Compared, Explained};
use ferryhook_core::operational::Operational;
use ferryhook_core::rejection::Cause;
use ferryhook_core::trigger::Posted;
use ferryhook_core::verify::doctor::Other;
use ferryhook_core::{Account, Connection, Erasure, Event, Id, Rejection, Replay, Source, User};
use ferryhook_flow::explain::{self, Trial};
use ferryhook_flow::ingest::{self, Declined, NotReadmitted, NotVerified};
use ferryhook_flow::replay::OrderError;
use ferryhook_flow::{ReplayError, dead_letters, erase, replay};
use ferryhook_store::{Store, Stored};
use futures_util::FutureExt;

use super::Desk;

impl Works for Desk {
    fn is_at_work(&self) -> bool {
        self.courier.is_some()
    }

    fn post(
        &self,
        source: Id<Source>,
        posted: Vec<Posted>,
        sender: Option<IpAddr>,
    ) -> Doing<'_, Vec<Result<Filed, Problem>>> {
        async move {
            let Some(ingest) = &self.ingest else { return Err(nobody("takes events in")) };
            let filed = ingest.post(source, posted, sender).await;
            let filed = filed.map_err(|declined| Refusal::Declined(problem(declined)))?;
            Ok(filed.into_iter().map(|one| one.map(told).map_err(problem)).collect())
        }
        .boxed()
    }

    fn called(&self, account: Id<Account>, by: Id<User>) {
        if let Some(courier) = &self.courier {
            courier.tally().called(account, by, self.env.now());
        }
    }

    fn explain<'a>(&'a self, connection: &'a Connection, event: &'a Event) -> Doing<'a, Explained> {
        async move { Ok(explain::at(connection, event, &self.scripts, self.env.now()).await) }
            .boxed()
    }

    fn compare<'a>(
        &'a self,
        before: &'a Connection,
        after: &'a Connection,
        event: &'a Event,
    ) -> Doing<'a, Compared> {
        async move {
            let trial = Trial::new(before.clone(), after.clone(), self.env.now());
            Ok(trial.compare(event, &self.scripts).await)
        }
        .boxed()
    }

    fn rehearse<'a>(
        &'a self,
        connection: &'a Connection,
        event: &'a Event,
        deliver: bool,
    ) -> Doing<'a, Option<Rehearsed>> {
        async move {
            let Some(courier) = &self.courier else { return Err(nobody("sends anything")) };
            let rehearsed = courier.rehearse(connection.clone(), event, deliver).await;
            Ok(rehearsed.map(|one| Rehearsed { event: one.event, attempt: one.attempt }))
        }
        .boxed()
    }

    fn replay<'a>(
        &'a self,
        store: &'a Store,
        event: &'a Event,
        to: &'a [Id<Connection>],
    ) -> Doing<'a, Vec<(Id<Connection>, What)>> {
        async move {
            if event.status == Status::SignatureFailed {
                let Some(ingest) = &self.ingest else { return Err(nobody("checks signatures")) };
                ingest.reverify(store, event).await.map_err(not_verified)?;
            }
            let to = Some(to).filter(|to| !to.is_empty());
            let replayed = match &self.courier {
                Some(courier) => courier.replay_with(store, event.id, to).await,
                None => replay::leave(store, &self.routes, &self.env, event.id, to).await,
            };
            let replayed = replayed.map_err(not_replayed)?;
            let begun = replayed.begun.into_iter().map(|id| (id, What::Replayed));
            let held = replayed.held.into_iter().map(|id| (id, What::Held));
            let open = replayed.open.into_iter().map(|id| (id, What::AlreadyOpen));
            Ok(begun.chain(held).chain(open).collect())
        }
        .boxed()
    }

    fn begin_replay<'a>(&'a self, store: &'a Store, job: &'a Replay) -> Doing<'a, ()> {
        async move {
            let begun = match &self.courier {
                Some(courier) => courier.replay_many(store, job).await,
                None => replay::jobs::order(store, job).await,
            };
            begun.map_err(|error| match error {
                OrderError::Store(error) => Refusal::Store(error),
                error @ OrderError::TooMany => Refusal::Conflict(error.to_string()),
            })
        }
        .boxed()
    }

    fn begin_erasure<'a>(&'a self, store: &'a Store, erasure: &'a Erasure) -> Doing<'a, ()> {
        async move {
            let begun = match &self.courier {
                Some(courier) => courier.erase(store, erasure).await,
                None => erase::order(store, erasure).await,
            };
            begun.map_err(|error| match error {
                erase::OrderError::Store(error) => Refusal::Store(error),
                error @ erase::OrderError::TooMany => Refusal::Conflict(error.to_string()),
            })
        }
        .boxed()
    }

    fn readmit<'a>(
        &'a self,
        store: &'a Store,
        rejection: Stored<Rejection>,
    ) -> Doing<'a, Vec<Id<Event>>> {
        async move {
            let Some(ingest) = &self.ingest else { return Err(nobody("takes requests in")) };
            ingest.readmit(store, rejection).await.map_err(|error| match error {
                NotReadmitted::Store(error) => Refusal::Store(error),
                error @ NotReadmitted::Gone(_) => Refusal::NotFound(error.to_string()),
                error => Refusal::Conflict(error.to_string()),
            })
        }
        .boxed()
    }

    /// It takes a server, which knows where senders reach it.
    fn diagnose<'a>(
        &'a self,
        rejection: &'a Rejection,
        others: &'a [Source],
    ) -> Doing<'a, Option<String>> {
        async move {
            let (Some(ingest), Cause::Signature) = (&self.ingest, rejection.cause) else {
                return Ok(None);
            };
            let others = others.iter().filter(|other| other.id != rejection.source_id);
            let others: Vec<_> = others
                .filter_map(|other| {
                    let secret = other.signing_secret.as_ref()?;
                    Some(Other { name: &other.name, secret })
                })
                .collect();
            Ok(ingest.diagnose(rejection, &others).await?)
        }
        .boxed()
    }

    fn redrive<'a>(&'a self, store: &'a Store, event: &'a Event) -> Doing<'a, ()> {
        async move {
            let driven = match &self.courier {
                Some(courier) => courier.redrive(store, event.id).await,
                None => dead_letters::redrive(store, event.id).await.map(drop),
            };
            driven.map_err(not_replayed)
        }
        .boxed()
    }

    fn hooks_changed(&self, account: Id<Account>) -> Doing<'_, ()> {
        async move {
            if let Some(courier) = &self.courier {
                courier.hooks_changed(account).await;
            }
            Ok(())
        }
        .boxed()
    }

    fn types_changed(&self, account: Id<Account>) {
        match &self.courier {
            Some(courier) => courier.types_changed(account),
            None => self.routes.forget_of(account),
        }
    }

    fn announce<'a>(&'a self, account: Id<Account>, said: &'a Operational) -> Doing<'a, ()> {
        async move {
            match &self.courier {
                Some(courier) => Ok(courier.announce(account, said).await?),
                None => Err(nobody("says anything")),
            }
        }
        .boxed()
    }
}

fn nobody(does: &str) -> Refusal {
    Refusal::Unavailable(format!("only a server {does}; start one on this data, and ask again"))
}

fn told(filed: ingest::Filed) -> Filed {
    match filed {
        ingest::Filed::New(event) => Filed::New(event),
        ingest::Filed::Known(first) => Filed::Known(first),
    }
}

fn problem(Declined { code, detail, wait_seconds, errors }: Declined) -> Problem {
    let errors = errors.into_iter().map(|(pointer, message)| FieldError { pointer, message });
    let problem = Problem::new(code, detail).with_errors(errors.collect());
    match wait_seconds {
        Some(seconds) => problem.after(seconds),
        None => problem,
    }
}

fn not_verified(error: NotVerified) -> Refusal {
    match error {
        NotVerified::Store(error) => Refusal::Store(error),
        error @ NotVerified::Gone(_) => Refusal::NotFound(error.to_string()),
        error => Refusal::Conflict(error.to_string()),
    }
}

fn not_replayed(error: ReplayError) -> Refusal {
    match error {
        ReplayError::Store(error) => Refusal::Store(error),
        error if error.is_not_found() => Refusal::NotFound(error.to_string()),
        error => Refusal::Conflict(error.to_string()),
    }
}
