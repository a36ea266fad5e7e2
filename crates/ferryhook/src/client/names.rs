//! Sources and connections by the names that people gave them.

use ferryhook_api::connections::ConnectionView;
use ferryhook_api::sources::SourceView;
use ferryhook_core::{Connection, Id, Source};

use super::{Client, Failure};

/// Sources that are looked at for one name.
const SOURCES_MAX: usize = 10_000;
/// And those whose connections are, for a connection that is named without its source.
const SOURCES_SEARCHED_MAX: usize = 50;
const CONNECTIONS_MAX: usize = 1000;

impl Client {
    /// By id or by name.
    pub async fn find_source(&self, text: &str) -> Result<SourceView, Failure> {
        if text.parse::<Id<Source>>().is_ok() {
            let found = self.get(&format!("/v1/sources/{text}")).await;
            return found.map_err(|failure| failure.about("source", text));
        }
        let sources: Vec<SourceView> = self.list("/v1/sources", SOURCES_MAX).await?.data;
        let known: Vec<_> = sources.iter().map(|source| source.name.clone()).collect();
        let named = sources.into_iter().filter(|source| source.name == text).collect();
        one_of(named, "source", text, &known)
    }

    /// By id, as SOURCE/NAME, or by a name that only one has.
    pub async fn find_connection(&self, text: &str) -> Result<ConnectionView, Failure> {
        if text.parse::<Id<Connection>>().is_ok() {
            let found = self.get(&format!("/v1/connections/{text}")).await;
            return found.map_err(|failure| failure.about("connection", text));
        }
        if let Some((source, name)) = text.split_once('/') {
            let source = self.find_source(source).await?;
            return self.find_connection_of(&source, name).await;
        }
        let sources = self.list("/v1/sources", SOURCES_SEARCHED_MAX).await?;
        if sources.has_more {
            return Err(Failure::not_found(format!(
                "say which source the connection {text:?} is of: SOURCE/{text}"
            )));
        }
        let (mut named, mut known) = (Vec::new(), Vec::new());
        for source in sources.data {
            for connection in self.connections_of(&source).await? {
                known.push(format!("{}/{}", source.name, connection.name));
                if connection.name == text {
                    named.push(connection);
                }
            }
        }
        one_of(named, "connection", text, &known)
    }

    /// Of this source, by its name there.
    async fn find_connection_of(
        &self,
        source: &SourceView,
        name: &str,
    ) -> Result<ConnectionView, Failure> {
        let connections = self.connections_of(source).await?;
        let known: Vec<_> = connections.iter().map(|one| one.name.clone()).collect();
        let named = connections.into_iter().filter(|one| one.name == name).collect();
        one_of(named, "connection", &format!("{}/{name}", source.name), &known)
    }

    pub async fn connections_of(
        &self,
        source: &SourceView,
    ) -> Result<Vec<ConnectionView>, Failure> {
        let path = format!("/v1/sources/{}/connections", source.source_id);
        let mut connections: Vec<ConnectionView> = self.list(&path, CONNECTIONS_MAX).await?.data;
        connections.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(connections)
    }
}

/// The one, or what there is instead.
fn one_of<T>(mut named: Vec<T>, what: &str, text: &str, known: &[String]) -> Result<T, Failure> {
    /// More would be a wall of names.
    const SHOWN_MAX: usize = 10;
    match (named.pop(), named.len()) {
        (Some(one), 0) => Ok(one),
        (Some(_), _) => {
            Err(Failure::not_found(format!("more than one {what} is called {text:?}; use its id")))
        }
        (None, _) => {
            let there = match known.len() {
                0 => "there is none".to_owned(),
                count if count > SHOWN_MAX => format!("`ferryhook {what}s list` shows all {count}"),
                _ => {
                    let mut known = known.to_vec();
                    known.sort();
                    format!("there is {}", known.join(", "))
                }
            };
            Err(Failure::not_found(format!("no {what} is called {text:?}; {there}")))
        }
    }
}
