//! Who takes part in a run: a few sources of two accounts and the connections that lead away from
//! them, each with the rules that chance gave it.

use ferryhook_core::connection::{OrderingPolicy, Status};
use ferryhook_core::{Connection, Headers, Source, samples, source};

use crate::chance::Chance;
use crate::clock::START;

#[derive(Debug, Clone)]
pub(crate) struct Cast {
    pub(crate) sources: Vec<Source>,
    pub(crate) ways: Vec<Way>,
}

/// A connection as the checks see it.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) source: usize,
    pub(crate) connection: Connection,
    /// Seconds before each attempt.
    pub(crate) schedule: Vec<u64>,
    /// Whether it is there from the beginning.
    pub(crate) is_first: bool,
}

const SCHEDULES: [&[u64]; 9] = [
    &[0],
    &[0, 1],
    &[0, 1, 2],
    &[0, 2, 5],
    &[0, 1, 3, 10],
    &[0, 0, 0, 4],
    &[1, 2, 2],
    &[0, 15],
    &[0, 1, 1, 1, 1, 1],
];

pub(crate) const TYPES: [&str; 3] = ["order.created", "order.paid", "user.created"];

impl Cast {
    pub(crate) fn new(chance: &Chance) -> Self {
        let sources: Vec<_> =
            (0..chance.of(1..4) as usize).map(|n| make_source(n, chance)).collect();
        let mut ways = Vec::new();
        for (place, source) in sources.iter().enumerate() {
            for _ in 0..chance.of(1..4) {
                ways.push(Way::new(ways.len(), place, source, chance));
            }
        }
        Self { sources, ways }
    }

    /// Sources that know a copy when they see one also know types.
    pub(crate) fn recognises(&self, source: usize) -> bool {
        self.sources[source].provider == "stripe"
    }

    pub(crate) fn wants(&self, way: usize, event_type: &str) -> bool {
        let Way { source, connection, .. } = &self.ways[way];
        let types = &connection.event_types;
        types.is_empty() || self.recognises(*source) && event_type.starts_with("order.")
    }
}

fn make_source(number: usize, chance: &Chance) -> Source {
    let provider = if chance.percent(60) { "stripe" } else { "custom" };
    Source {
        id: format!("src_00000000000000{number:02}").parse().unwrap(),
        account_id: format!("acc_000000000000000{}", number % 2).parse().unwrap(),
        provider: provider.to_owned(),
        status: source::Status::Active,
        signing_secret: None,
        previous_secrets: Vec::new(),
        signing_algorithm: None,
        verification_mode: None,
        dedup_expression: None,
        custom_response: None,
        event_count: 0,
        last_event_at: None,
        created_at: START,
        updated_at: START,
        ..samples::source()
    }
}

impl Way {
    fn new(number: usize, place: usize, source: &Source, chance: &Chance) -> Self {
        let schedule = chance.pick(&SCHEDULES).to_vec();
        let ordering = match chance.of(0..10) {
            0..4 => None,
            4..8 => Some(OrderingPolicy::Block),
            8 => Some(OrderingPolicy::Skip { after: 1 }),
            _ => Some(OrderingPolicy::Park),
        };
        let connection = Connection {
            id: format!("conn_00000000000000{number:02}").parse().unwrap(),
            source_id: source.id,
            account_id: source.account_id,
            status: Status::Active,
            status_reason: None,
            destination_url: Some(format!("https://d{number}.example.com/hook")),
            method: Default::default(),
            headers: Headers::default(),
            auth: None,
            previous_secrets: Vec::new(),
            event_types: match chance.percent(25) {
                true => vec!["order.*".to_owned()],
                false => Vec::new(),
            },
            filters: None,
            transform: None,
            retry_config: Some(format!("{schedule:?}")),
            timeout_ms: Some(chance.of(1..5) as u32 * 1000),
            concurrency_max: chance.percent(30).then(|| chance.of(1..4) as u16),
            rate_per_second_max: chance.percent(20).then(|| chance.of(2..40) as u32),
            ordering_key: ordering.map(|_| "body.key".to_owned()),
            ordering_policy: ordering,
            delivery_count: 0,
            failure_count: 0,
            created_at: START,
            updated_at: START,
            ..samples::connection()
        };
        Self { source: place, connection, schedule, is_first: chance.percent(85) }
    }
}
