//! The rules of a connection, as they are written down: which events it wants, and in what shape.
//!
//! Also a file of their own, for whoever asks what other rules would do.

use ferryhook_core::Connection;
use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::filter::Filter;
use ferryhook_core::transform::Transform;
use ferryhook_net::client::Guard;

use super::reader::{At, Fields, Reading};
use super::{Complaint, Dialect, Secrets, tree};

pub(super) const FIELDS: [&str; 4] = ["eventTypes", "filters", "transform", "pipelineOrder"];

const ORDERS: [(&str, PipelineOrder); 2] = [
    ("filter_first", PipelineOrder::FilterFirst),
    ("transform_first", PipelineOrder::TransformFirst),
];

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rules {
    pub event_types: Vec<String>,
    /// As JSON text, which [`Filter::parse`] has understood.
    pub filters: Option<String>,
    /// The same for [`Transform::parse`].
    pub transform: Option<String>,
    pub pipeline_order: PipelineOrder,
}

impl Rules {
    /// From a file that has nothing else.
    pub fn parse(text: &str) -> Result<Self, Vec<Complaint>> {
        let node = tree::read(text).map_err(|complaint| vec![complaint])?;
        let (secrets, guard) = (Secrets::new(), Guard::new(Vec::new()));
        let reading = Reading::new(&secrets, &guard, Dialect::File);
        let rules = read_whole(&At::root(&reading, &node)).unwrap_or_default();
        let complaints = reading.complaints.into_inner();
        match complaints.is_empty() {
            true => Ok(rules),
            false => Err(complaints),
        }
    }

    /// The connection as it would be with these rules.
    pub fn given_to(&self, connection: Connection) -> Connection {
        Connection {
            event_types: self.event_types.clone(),
            filters: self.filters.clone(),
            transform: self.transform.clone(),
            pipeline_order: self.pipeline_order,
            ..connection
        }
    }
}

/// Rules and nothing else.
pub(super) fn read_whole(at: &At<'_>) -> Option<Rules> {
    at.fields("a set of rules", &FIELDS).map(|fields| read(&fields))
}

pub(super) fn read(fields: &Fields<'_>) -> Rules {
    let [event_types, filters, transform, order] = FIELDS.map(|name| fields.get(name));
    Rules {
        event_types: event_types.map(|at| types(&at)).unwrap_or_default(),
        filters: filters.and_then(|at| text(&at, |text| Filter::parse(text).map(drop))),
        transform: transform.and_then(|at| text(&at, |text| Transform::parse(text).map(drop))),
        pipeline_order: order.and_then(|at| at.one_of(&ORDERS)).unwrap_or_default(),
    }
}

fn types(at: &At<'_>) -> Vec<String> {
    let types: Vec<_> = at.list().iter().filter_map(At::text).collect();
    at.accept(EventTypes::compile(&types));
    types
}

/// Kept as the JSON text that it is compiled from again at each start.
fn text<E: std::fmt::Display>(
    at: &At<'_>,
    check: impl FnOnce(&str) -> Result<(), E>,
) -> Option<String> {
    let text = at.accept(serde_json::to_string(&at.json()))?;
    at.accept(check(&text))?;
    Some(text)
}
