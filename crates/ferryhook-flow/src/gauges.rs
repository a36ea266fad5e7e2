//! What is measured on the way out. Handles are made once: looking one up costs more than adding.

use std::collections::HashMap;
use std::sync::Mutex;

use ferryhook_core::{Account, Id, Timestamp};
use metrics::{Counter, Gauge, Histogram};

use crate::attempt::Made;
use crate::courier::lock;
use crate::lanes::Felt;

pub(crate) struct Gauges {
    /// By the first digit of the status; 0 stands for no answer.
    attempts: [Counter; 6],
    /// The same of those that went to somebody who listens.
    listened: [Counter; 6],
    blocked: Counter,
    dns: Histogram,
    connect: Histogram,
    tls: Histogram,
    first_byte: Histogram,
    total: Histogram,
    put_off: Counter,
    gave_up: Counter,
    dead: Counter,
    waiting: Gauge,
    oldest: Gauge,
    erasures: Gauge,
    erased: Counter,
    /// Accounts that were told to be behind; they are told again when they no longer are.
    behind: Mutex<HashMap<Id<Account>, Gauge>>,
}

/// How many accounts have a gauge of their own; those furthest behind.
const ACCOUNTS_SHOWN: usize = 50;

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
        metrics::describe_gauge!(
            "ferryhook_queue_depth",
            "Deliveries that wait in memory for their next attempt."
        );
        metrics::describe_gauge!(
            "ferryhook_queue_oldest_age_seconds",
            metrics::Unit::Seconds,
            "How long the oldest event that somebody still waits for has been here."
        );
        metrics::describe_gauge!(
            "ferryhook_oldest_undelivered_age_seconds",
            metrics::Unit::Seconds,
            "The same for each account, of those furthest behind."
        );
        metrics::describe_gauge!(
            "ferryhook_erasures_running",
            "Erasures that are not over yet, up to the number that one look finds."
        );
        metrics::describe_counter!(
            "ferryhook_erased_total",
            "Events and rejections that erasures carried out here have erased."
        );
        let phase = |phase: &'static str| metrics::histogram!("ferryhook_delivery_duration_seconds", "phase" => phase);
        let attempts = |to: &'static str, outcome: &'static str, class: &'static str| {
            metrics::counter!("ferryhook_delivery_attempts_total",
                "destination_type" => to, "outcome" => outcome, "status_class" => class)
        };
        Self {
            attempts: CLASSES.map(|(outcome, class)| attempts("http", outcome, class)),
            listened: CLASSES.map(|(outcome, class)| attempts("cli", outcome, class)),
            blocked: attempts("http", "blocked", "none"),
            dns: phase("dns"),
            connect: phase("connect"),
            tls: phase("tls"),
            first_byte: phase("ttfb"),
            total: phase("total"),
            put_off: metrics::counter!("ferryhook_retries_scheduled_total"),
            gave_up: metrics::counter!("ferryhook_deliveries_failed_total"),
            dead: metrics::counter!("ferryhook_dead_letters_total"),
            waiting: metrics::gauge!("ferryhook_queue_depth", "queue" => "memory"),
            oldest: metrics::gauge!("ferryhook_queue_oldest_age_seconds", "queue" => "deliver"),
            erasures: metrics::gauge!("ferryhook_erasures_running"),
            erased: metrics::counter!("ferryhook_erased_total"),
            behind: Mutex::default(),
        }
    }

    /// How many erasures are not over.
    pub(crate) fn erasures_running(&self, count: usize) {
        self.erasures.set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    }

    pub(crate) fn erased(&self) {
        self.erased.increment(1);
    }

    pub(crate) fn attempted(&self, made: &Made, is_listened: bool) {
        let attempts = if is_listened { &self.listened } else { &self.attempts };
        match (made.felt, made.attempt.status_code / 100) {
            (Felt::Nothing, _) => self.blocked.increment(1),
            (_, class) => attempts[usize::from(class.min(5))].increment(1),
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

    pub(crate) fn measured(
        &self,
        waiting: usize,
        oldest: HashMap<Id<Account>, Timestamp>,
        now: Timestamp,
    ) {
        self.waiting.set(waiting as f64);
        let mut oldest: Vec<_> = oldest.into_iter().map(|(account, at)| (at, account)).collect();
        oldest.sort_unstable();
        oldest.truncate(ACCOUNTS_SHOWN);
        let age = |at: Timestamp| now.saturating_since(at).as_secs_f64();
        self.oldest.set(oldest.first().map_or(0.0, |(at, _)| age(*at)));
        let mut behind = lock(&self.behind);
        behind.retain(|account, gauge| {
            let still = oldest.iter().any(|(_, other)| other == account);
            if !still {
                gauge.set(0.0);
            }
            still
        });
        for (at, account) in oldest {
            let gauge = behind.entry(account).or_insert_with(|| {
                metrics::gauge!("ferryhook_oldest_undelivered_age_seconds",
                    "account" => account.to_string())
            });
            gauge.set(age(at));
        }
    }

    pub(crate) fn dead(&self) {
        self.dead.increment(1);
    }
}
