//! What is measured on the way out. Handles are made once: looking one up costs more than adding.

use metrics::{Counter, Histogram};

use crate::attempt::Made;
use crate::lanes::Felt;

pub(crate) struct Gauges {
    /// By the first digit of the status; 0 stands for no answer.
    attempts: [Counter; 6],
    blocked: Counter,
    dns: Histogram,
    connect: Histogram,
    tls: Histogram,
    first_byte: Histogram,
    total: Histogram,
    put_off: Counter,
    gave_up: Counter,
    dead: Counter,
}

const CLASSES: [(&str, &str); 6] = [
    ("unanswered", "none"),
    ("failed", "1xx"),
    ("delivered", "2xx"),
    ("failed", "3xx"),
    ("failed", "4xx"),
    ("failed", "5xx"),
];

impl Gauges {
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(
            "ferryhook_delivery_attempts_total",
            "Attempts to deliver, by outcome and class of status."
        );
        metrics::describe_histogram!(
            "ferryhook_delivery_duration_seconds",
            metrics::Unit::Seconds,
            "How long attempts took, in all and by phase."
        );
        metrics::describe_counter!(
            "ferryhook_retries_scheduled_total",
            "Attempts that failed and will be repeated."
        );
        metrics::describe_counter!(
            "ferryhook_deliveries_failed_total",
            "Deliveries that were given up."
        );
        metrics::describe_counter!(
            "ferryhook_dead_letters_total",
            "Events that could not be processed."
        );
        let phase = |phase: &'static str| metrics::histogram!("ferryhook_delivery_duration_seconds", "phase" => phase);
        let attempts = |outcome: &'static str, class: &'static str| {
            metrics::counter!("ferryhook_delivery_attempts_total",
                "destination_type" => "http", "outcome" => outcome, "status_class" => class)
        };
        Self {
            attempts: CLASSES.map(|(outcome, class)| attempts(outcome, class)),
            blocked: attempts("blocked", "none"),
            dns: phase("dns"),
            connect: phase("connect"),
            tls: phase("tls"),
            first_byte: phase("ttfb"),
            total: phase("total"),
            put_off: metrics::counter!("ferryhook_retries_scheduled_total"),
            gave_up: metrics::counter!("ferryhook_deliveries_failed_total"),
            dead: metrics::counter!("ferryhook_dead_letters_total"),
        }
    }

    pub(crate) fn attempted(&self, made: &Made) {
        match (made.felt, made.attempt.status_code / 100) {
            (Felt::Nothing, _) => self.blocked.increment(1),
            (_, class) => self.attempts[usize::from(class.min(5))].increment(1),
        }
        let timing = &made.timing;
        let phases = [
            (&self.dns, timing.dns),
            (&self.connect, timing.connect),
            (&self.tls, timing.tls),
            (&self.first_byte, timing.first_byte),
            (&self.total, Some(timing.total)),
        ];
        for (histogram, took) in phases {
            if let Some(took) = took {
                histogram.record(took);
            }
        }
    }

    pub(crate) fn put_off(&self) {
        self.put_off.increment(1);
    }

    pub(crate) fn gave_up(&self) {
        self.gave_up.increment(1);
    }

    pub(crate) fn dead(&self) {
        self.dead.increment(1);
    }
}
