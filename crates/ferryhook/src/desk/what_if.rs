//! What other rules would have done with the events that a connection's source brought last.

use ferryhook_api::manifest::Rules;
use ferryhook_core::event::Status;
use ferryhook_core::explained::Compared;
use ferryhook_core::replay::{Filter, Position};
use ferryhook_core::{Connection, connection};
use ferryhook_flow::explain::Trial;
use ferryhook_flow::replay::Search;

use super::orders::WhatIf;
use super::view::{Example, Tried};
use super::{Complaint, Desk};

/// Events looked at in one answer; whoever wants more asks again. A script may take its time with
/// each of them.
const EVENTS_MAX: usize = 100;
const EXAMPLES_MAX: usize = 20;

impl Desk {
    pub(super) async fn what_if(&self, asked: WhatIf) -> Result<Tried, Complaint> {
        let rules = Rules::parse(&asked.rules).map_err(|complaints| {
            let lines = complaints.iter().map(|complaint| format!("{}:{complaint}", asked.file));
            Complaint::Refused(lines.collect::<Vec<_>>().join("\n"))
        })?;
        let connection = self.connection(&asked.connection).await?;
        let filter = Filter { source_id: Some(connection.source_id), ..Filter::default() };
        let refused =
            |error: ferryhook_core::event_types::BadPattern| Complaint::Refused(error.to_string());
        let search = Search::newest_first(connection.account_id, &filter).map_err(refused)?;
        let mut search = search.after(asked.after);
        let changed = rules.given_to(connection.clone());
        let trial = Trial::new(connection, changed, self.env.now());
        let mut tried = Tried { next: asked.after, ..Tried::default() };
        let (limit, examples) = (asked.last.min(EVENTS_MAX), asked.examples.min(EXAMPLES_MAX));
        let mut seen = 0;
        while seen < limit && !search.is_over() {
            let found = search.look(&self.store, limit - seen).await?;
            seen += found.looked_at.max(1);
            for event in &found.events {
                tried.next = Some(Position::of(event));
                if event.status == Status::SignatureFailed {
                    continue; // it goes nowhere, whatever the rules
                }
                let compared = trial.compare(event, &self.scripts).await;
                tried.note(&compared);
                if compared.differs() && tried.examples.len() < examples {
                    let (event_id, received_at) = (event.id, event.received_at);
                    tried.examples.push(Example { event_id, received_at, compared });
                }
            }
        }
        if search.is_over() {
            tried.next = None;
        }
        Ok(tried)
    }

    async fn connection(&self, text: &str) -> Result<Connection, Complaint> {
        let named = self.find_connections(None, &[text.to_owned()]).await?;
        let nothing = || Complaint::NotFound(format!("there is no connection {text}"));
        let id = named.first().copied().ok_or_else(nothing)?;
        let found = self.store.connections().find(id).await?.map(|found| found.record);
        let account = self.account().await?;
        let is_ours = |found: &Connection| {
            Some(found.account_id) == account && found.status != connection::Status::Deleted
        };
        found.filter(is_ours).ok_or_else(nothing)
    }
}

impl Tried {
    fn note(&mut self, compared: &Compared) {
        self.looked_at += 1;
        self.verdict_changed += usize::from(compared.changes_verdict());
        self.content_changed += usize::from(compared.changes_content());
        self.before.count(&compared.before);
        self.after.count(&compared.after);
    }
}
