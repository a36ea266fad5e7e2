//! Nouns for a case: the samples, with ids, names and times of the case's own.

use std::time::Duration;

use ferryhook_core::event::{Origin, Status};
use ferryhook_core::replay::{Filter, Selection};
use ferryhook_core::{
    Account, Activity, Attempt, Claim, Connection, Delivery, Event, Hook, Id, Key, Member,
    Notification, Plan, Rejection, Replay, Run, Schedule, Secret, Source, Timestamp, Usage, User,
    delivery, run, samples,
};

use crate::bench::Bench;

/// An owner with an account, which most things belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home {
    pub(crate) user: Id<User>,
    pub(crate) account: Id<Account>,
    pub(crate) source: Id<Source>,
}

impl Bench {
    pub(crate) fn home(&self) -> Home {
        Home { user: self.id(), account: self.id(), source: self.id() }
    }

    pub(crate) fn user(&self) -> User {
        let id = self.id();
        User {
            id,
            email: format!("{id}@example.com"),
            github_id: Some(format!("github-{id}")),
            google_id: Some(format!("google-{id}")),
            ..samples::user()
        }
    }

    pub(crate) fn account(&self) -> Account {
        Account { id: self.id(), ..samples::account() }
    }

    pub(crate) fn member(&self, user: Id<User>, account: Id<Account>) -> Member {
        Member { user_id: user, account_id: account, ..samples::member() }
    }

    pub(crate) fn source(&self, home: Home) -> Source {
        Source { id: self.id(), user_id: home.user, account_id: home.account, ..samples::source() }
    }

    pub(crate) fn connection(&self, home: Home) -> Connection {
        Connection {
            id: self.id(),
            source_id: home.source,
            user_id: home.user,
            account_id: home.account,
            ..samples::connection()
        }
    }

    pub(crate) fn key(&self, home: Home) -> Key {
        let id = self.id();
        Key {
            id,
            user_id: home.user,
            account_id: home.account,
            hash: Secret::new(format!("hash-of-{id}")),
            ..samples::key()
        }
    }

    /// Just received, not yet planned.
    pub(crate) fn event(&self, home: Home) -> Event {
        let now = self.now();
        Event {
            id: Id::new(&self.env),
            source_id: home.source,
            user_id: home.user,
            account_id: home.account,
            status: Status::Received,
            received_at: now,
            pending_since: Some(now),
            processed_at: None,
            delivered_at: None,
            expires_at: Some(whole(self.later(86_400))),
            ..samples::event()
        }
    }

    /// Posted by an app.
    pub(crate) fn trigger(&self, home: Home, event_type: &str) -> Event {
        Event {
            origin: Origin::Trigger,
            event_type: Some(event_type.to_owned()),
            body: Default::default(),
            headers: Default::default(),
            ..self.event(home)
        }
    }

    pub(crate) fn claim(&self, key: &str, event: Option<Id<Event>>) -> Claim {
        Claim {
            key: self.own(key),
            seen_at: self.now(),
            expires_at: whole(self.later(14 * 86_400)),
            event_id: event,
            state: None,
            fencing_token: None,
            lease_until: None,
            ..samples::claim()
        }
    }

    /// Due now.
    pub(crate) fn delivery(&self, event: &Event) -> Delivery {
        Delivery {
            event_id: event.id,
            connection_id: self.id(),
            source_id: event.source_id,
            account_id: event.account_id,
            state: delivery::State::Waiting { next_attempt_at: self.now() },
            attempts: 0,
            order_key: None,
            expires_at: event.expires_at,
            ..samples::delivery()
        }
    }

    pub(crate) fn attempt(&self, delivery: &Delivery, number: u16) -> Attempt {
        Attempt {
            event_id: delivery.event_id,
            connection_id: delivery.connection_id,
            number,
            attempted_at: self.now(),
            expires_at: delivery.expires_at,
            ..samples::attempt()
        }
    }

    /// Asked for now, of everything that has come.
    pub(crate) fn replay(&self, home: Home) -> Replay {
        let selection = Selection::filter(Filter::default(), self.now()).unwrap();
        Replay::new(home.account, selection, Vec::new(), 100, &self.env).unwrap()
    }

    pub(crate) fn rejection(&self, home: Home) -> Rejection {
        Rejection {
            id: self.id(),
            source_id: home.source,
            account_id: home.account,
            rejected_at: self.now(),
            expires_at: Some(whole(self.later(86_400))),
            ..samples::rejection()
        }
    }

    pub(crate) fn schedule(&self, home: Home, next_run_at: Timestamp) -> Schedule {
        Schedule { source_id: home.source, id: self.id(), next_run_at, ..samples::schedule() }
    }

    pub(crate) fn run(&self, home: Home, status: run::Status) -> Run {
        Run {
            source_id: home.source,
            id: self.id(),
            status,
            started_at: whole(self.now()),
            ..samples::run()
        }
    }

    pub(crate) fn activity(&self, home: Home, event_type: &str) -> Activity {
        Activity {
            account_id: home.account,
            id: self.id(),
            at: whole(self.now()),
            user_id: Some(home.user),
            event_type: event_type.to_owned(),
            ..samples::activity()
        }
    }

    pub(crate) fn hook(&self, home: Home) -> Hook {
        Hook { id: self.id(), account_id: home.account, ..samples::hook() }
    }

    pub(crate) fn notification(&self, home: Home) -> Notification {
        Notification {
            user_id: home.user,
            id: self.id(),
            is_read: false,
            read_at: None,
            created_at: whole(self.now()),
            expires_at: Some(whole(self.later(3600))),
            ..samples::notification()
        }
    }

    pub(crate) fn usage(&self, home: Home, day: &str) -> Usage {
        Usage { account_id: home.account, day: day.to_owned(), ..samples::usage() }
    }

    pub(crate) fn plan(&self, name: &str) -> Plan {
        Plan { id: self.own(name), ..samples::plan() }
    }

    /// Lets a moment pass, so that what comes next is later.
    pub(crate) fn tick(&self) {
        self.clock.advance(Duration::from_secs(1));
    }
}

/// Stored in seconds, so that it has to be a whole one to come back the same.
fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_seconds(at.as_seconds())
}
