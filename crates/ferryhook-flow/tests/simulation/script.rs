//! What happens in a life: senders send, time passes, destinations change their mood, operators
//! change the configuration.

use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::{Connection, Source, connection, source};
use ferryhook_flow::replay::Replayed;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use serde_json::{Value, json};

use crate::cast::TYPES;
use crate::fleet::Mood;
use crate::story::{Heard, Letter, Story};
use crate::world::{Life, World};

impl World {
    /// The sources and connections of the beginning.
    pub(crate) async fn furnish(&mut self) {
        for source in &self.cast.sources {
            self.operator.sources().create(source).await.unwrap();
        }
        for way in &self.cast.ways {
            if way.is_first {
                self.operator.connections().create(&way.connection).await.unwrap();
            }
        }
        let known = self.cast.ways.iter().map(|way| way.is_first).collect::<Vec<_>>();
        self.story.furnish(&known);
    }

    /// A program that starts knows everything that is there.
    pub(crate) fn know_all(&self) {
        for way in 0..self.cast.ways.len() {
            self.story.know(way);
        }
    }

    pub(crate) async fn step(&mut self, life: &Life) {
        match self.chance.of(0..100) {
            0..42 => self.senders_send(life),
            42..72 => self.time_passes().await,
            72..82 => self.a_mood_changes(),
            82..88 => self.a_connection_changes(life).await,
            88..92 => self.a_source_changes(life).await,
            92..95 if self.temper.store_fails => {
                let time = self.chance.millis(50..6000);
                self.story.tell(format_args!("the store is away for {time:?}"));
                self.disk.go_away(time);
            }
            95..97 if self.temper.crashes => self.disk.crash_after(self.chance.of(1..30)),
            97..99 if self.temper.replays => self.somebody_replays(life),
            _ => self.time_passes().await,
        }
    }

    async fn time_passes(&self) {
        let time = match self.chance.of(0..100) {
            0..60 => self.chance.millis(0..100),
            60..88 => self.chance.millis(100..2500),
            88..97 => self.chance.millis(2500..12_000),
            _ => self.chance.millis(12_000..100_000),
        };
        tokio::time::sleep(time).await;
    }

    fn a_mood_changes(&self) {
        let dock = self.chance.of(0..self.cast.ways.len() as u64) as usize;
        self.fleet.change(dock, Mood::any(&self.chance));
    }

    /// A few senders, each with a few letters that it sends one after the other.
    fn senders_send(&self, life: &Life) {
        for _ in 0..self.chance.of(1..4) {
            let source = self.chance.of(0..self.cast.sources.len() as u64) as usize;
            let letters: Vec<_> = (0..self.chance.of(1..4)).map(|_| self.letter(source)).collect();
            let patience = match self.chance.percent(8) {
                true => self.chance.millis(0..8),
                false => Duration::from_secs(60),
            };
            let sender = Sender {
                ingest: life.ingest.clone(),
                story: self.story.clone(),
                address: format!("/in/{}", self.cast.sources[source].id),
                patience,
            };
            life.senders.spawn("sender", async move { sender.send_all(letters).await });
        }
    }

    /// A new one, or one that was sent before where copies are recognised.
    fn letter(&self, source: usize) -> usize {
        let before: Vec<usize> = {
            let told = self.story.told();
            let letters = told.letters.iter().enumerate();
            letters.filter(|(_, letter)| letter.source == source).map(|(n, _)| n).collect()
        };
        if self.cast.recognises(source) && !before.is_empty() && self.chance.percent(15) {
            return *self.chance.pick(&before);
        }
        let key = self.chance.percent(85).then(|| format!("k{}", self.chance.of(0..3)));
        let event_type = *self.chance.pick(&TYPES);
        self.story.write(|n| {
            let mut body = json!({ "id": format!("n{n}"), "type": event_type, "n": n });
            if let Some(key) = &key {
                body["key"] = Value::from(key.as_str());
            }
            let body = Bytes::from(body.to_string());
            Letter { source, key, event_type, body, requests: Vec::new() }
        })
    }

    async fn a_connection_changes(&mut self, life: &Life) {
        let way = self.chance.of(0..self.cast.ways.len() as u64) as usize;
        let of = &self.cast.ways[way].connection;
        let found = self.operator.connections().find_of(of.source_id, of.id).await.unwrap();
        let Some(was) = found else {
            self.story.make(way);
            self.operator.connections().create(of).await.unwrap();
            self.ring(life, of.source_id, move |story| story.know(way)).await;
            return;
        };
        let status = match (was.status, self.chance.of(0..10)) {
            (connection::Status::Deleted, _) => return,
            (_, 1..5) if self.temper.reorders => {
                self.story.reorder(way);
                let ordering_key = match was.ordering_key {
                    Some(_) => None,
                    None => Some("body.key".to_owned()),
                };
                let now = Connection { ordering_key, ..was.record.clone() };
                self.operator.connections().replace(&was, now).await.unwrap();
                return self.ring(life, of.source_id, |_| ()).await;
            }
            (_, 0) => connection::Status::Deleted,
            (connection::Status::Active, _) => connection::Status::Paused,
            (connection::Status::Paused, _) => connection::Status::Active,
        };
        let change = self.story.change(way, status);
        if status == connection::Status::Deleted {
            self.story.delete(way);
        }
        let source = of.source_id;
        let now = Connection { status, ..was.record.clone() };
        self.operator.connections().replace(&was, now).await.unwrap();
        let pauses = status == connection::Status::Paused && !self.temper.store_fails;
        self.ring(life, source, move |story| {
            if pauses {
                story.pause(way, change);
            }
        })
        .await;
    }

    async fn a_source_changes(&mut self, life: &Life) {
        let place = self.chance.of(0..self.cast.sources.len() as u64) as usize;
        let Source { id, user_id, .. } = self.cast.sources[place];
        let was = self.operator.sources().find_owned(user_id, id).await.unwrap().unwrap();
        let status = match was.status {
            source::Status::Active => source::Status::Paused,
            _ => source::Status::Active,
        };
        self.story.tell(format_args!("source {place} will be {status:?}"));
        let now = Source { status, ..was.record.clone() };
        self.operator.sources().replace(&was, now).await.unwrap();
        self.ring(life, id, |_| ()).await;
    }

    fn somebody_replays(&self, life: &Life) {
        let accepted: Vec<_> = {
            let told = self.story.told();
            let requests = told.letters.iter().flat_map(|letter| &letter.requests);
            let heard = requests.filter_map(|request| request.heard);
            heard.filter_map(|(_, heard)| heard.accepted()).collect()
        };
        if accepted.is_empty() {
            return;
        }
        let event = *self.chance.pick(&accepted);
        let replay = self.story.replay(event);
        let (courier, story) = (life.courier.clone(), self.story.clone());
        life.tasks.spawn("replay", async move {
            match courier.replay(event, None).await {
                Ok(Replayed { begun, held, .. }) => {
                    story.replayed(replay, [begun, held].concat());
                }
                Err(error) => {
                    story.tell(format_args!("replay {replay}: {error}"));
                }
            }
        });
    }

    /// Tells the program that something changed, as the API does, and goes on at once or when it
    /// has understood.
    async fn ring(
        &self,
        life: &Life,
        source: ferryhook_core::Id<Source>,
        then: impl FnOnce(&Story) + Send + 'static,
    ) {
        let (courier, story) = (life.courier.clone(), self.story.clone());
        let told = async move {
            courier.changed(Some(source)).await;
            then(&story);
        };
        match self.chance.percent(50) {
            true => told.await,
            false => life.tasks.spawn("change", told),
        }
    }

    /// Whoever is paused goes on, mostly.
    pub(crate) async fn resume_most(&mut self, life: &Life) {
        for (place, Source { id, user_id, .. }) in self.cast.sources.iter().enumerate() {
            let was = self.operator.sources().find_owned(*user_id, *id).await.unwrap().unwrap();
            if was.status == source::Status::Paused && self.chance.percent(80) {
                self.story.tell(format_args!("source {place} goes on"));
                let now = Source { status: source::Status::Active, ..was.record.clone() };
                self.operator.sources().replace(&was, now).await.unwrap();
                life.courier.changed(Some(*id)).await;
            }
        }
        for (way, of) in self.cast.ways.iter().enumerate() {
            let Connection { source_id, id, .. } = of.connection;
            let connections = self.operator.connections();
            let Some(was) = connections.find_of(source_id, id).await.unwrap() else { continue };
            if was.status == connection::Status::Paused && self.chance.percent(80) {
                self.story.change(way, connection::Status::Active);
                let now = Connection { status: connection::Status::Active, ..was.record.clone() };
                connections.replace(&was, now).await.unwrap();
                life.courier.changed(Some(source_id)).await;
            }
        }
    }
}

struct Sender {
    ingest: ferryhook_flow::Ingest,
    story: Story,
    address: String,
    /// It goes away when it has waited this long.
    patience: Duration,
}

impl Sender {
    async fn send_all(self, letters: Vec<usize>) {
        for letter in letters {
            let request = self.story.ask(letter);
            let answer = tokio::time::timeout(self.patience, self.send(letter)).await;
            match answer {
                Ok(heard) => self.story.hear(letter, request, heard),
                Err(_) => {
                    self.story.tell(format_args!("the sender of {letter} went away"));
                }
            }
        }
    }

    async fn send(&self, letter: usize) -> Heard {
        let body = self.story.told().letters[letter].body.clone();
        let request = Request::builder().method(Method::POST).uri(&self.address);
        let request = request.header("content-type", "application/json");
        let answer = self.ingest.clone().answer(request.body(Full::from(body)).unwrap()).await;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        if status != 200 {
            return Heard::Refused { status };
        }
        let told: Value = serde_json::from_slice(&body).unwrap();
        let id = told["id"].as_str().map(|id| id.parse().unwrap());
        match (told["duplicate"].as_bool(), id) {
            (Some(true), first) => Heard::Duplicate { first },
            (_, Some(id)) => Heard::Accepted { id },
            _ => panic!("an answer without an id: {told}"),
        }
    }
}
