//! Providers: what is known about everyone who sends webhooks, in one table.
//!
//! A row says what the provider calls an event, what type it says it is, how it sends several at
//! once, how it signs, and what it asks before it sends. To add a provider is to add a row and the tests that stand for it.

mod handshakes;
mod schemes;
mod table;

use serde_json::Value;

use crate::Source;
use crate::dedup::{Arriving, BadRule, EVENT_TYPE_SETTING, Rule};
use crate::handshake::{Acknowledgement, Handshake};
use crate::verify::BadVerifier;
use crate::verify::scheme::Scheme;

#[derive(Debug)]
pub struct Provider {
    pub name: &'static str,
    /// Both are expressions; empty where there is nothing to go by.
    pub(crate) id: &'static str,
    pub(crate) event_type: &'static str,
    pub(crate) batch: Batch,
    pub confidence: Confidence,
    /// How it signs, the best way first.
    pub schemes: &'static [Variant],
    pub(crate) pick: Pick,
    /// What it asks before it sends.
    pub handshakes: &'static [Handshake],
    /// What it wants to hear for its events.
    pub acknowledgement: Option<&'static Acknowledgement>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batch {
    No,
    /// The body is a list of events and nothing else.
    Body,
    /// A list inside of an envelope, whose other fields would be lost: split only when asked to.
    At(&'static str),
}

/// How sure it is that requests are verified as the provider signs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// The provider's own code or documents say so.
    Settled,
    /// Others say so.
    Experimental,
}

/// One of several ways in which a provider signs.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// What a source asks for it by; empty where there is only one.
    pub name: &'static str,
    pub scheme: Scheme<'static>,
    /// Counts only where a source asks for it.
    pub only_asked: bool,
}

/// Which of a provider's schemes has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The first one that the request carries: a stronger one that fails is not saved by a weaker.
    First,
    /// Any that the request carries.
    Any,
}

/// A row without a scheme.
const fn row(
    name: &'static str,
    id: &'static str,
    event_type: &'static str,
    batch: Batch,
) -> Provider {
    let (confidence, pick) = (Confidence::Experimental, Pick::First);
    let (handshakes, acknowledgement) = (&[], None);
    let schemes = &[];
    Provider { name, id, event_type, batch, confidence, schemes, pick, handshakes, acknowledgement }
}

impl Provider {
    const fn settled(mut self, schemes: &'static [Variant]) -> Self {
        self.confidence = Confidence::Settled;
        self.schemes = schemes;
        self
    }

    const fn experimental(mut self, schemes: &'static [Variant]) -> Self {
        self.confidence = Confidence::Experimental;
        self.schemes = schemes;
        self
    }

    const fn asking(mut self, handshakes: &'static [Handshake]) -> Self {
        self.handshakes = handshakes;
        self
    }

    const fn acknowledged(mut self, answer: &'static Acknowledgement) -> Self {
        self.acknowledgement = Some(answer);
        self
    }

    const fn any(mut self) -> Self {
        self.pick = Pick::Any;
        self
    }

    /// Where it puts its signature, for people: a header, or what stands in for one.
    pub fn signature(&self) -> String {
        let mut places: Vec<_> = self.schemes.iter().map(|own| own.scheme.place()).collect();
        places.dedup();
        places.join(" or ")
    }

    /// The scheme that is asked for, or those that need not be.
    pub(crate) fn schemes_called(
        &self,
        asked: Option<&str>,
    ) -> Result<Vec<Scheme<'static>>, BadVerifier> {
        let known = || self.schemes.iter();
        let found: Vec<_> = match asked {
            None => known().filter(|own| !own.only_asked).map(|own| own.scheme).collect(),
            Some(asked) => known()
                .filter(|own| own.name.eq_ignore_ascii_case(asked))
                .map(|own| own.scheme)
                .collect(),
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let names: Vec<_> = known().map(|own| own.name).filter(|name| !name.is_empty()).collect();
        Err(BadVerifier::UnknownScheme {
            provider: self.name,
            asked: asked.unwrap_or_default().chars().take(64).collect(),
            known: if names.is_empty() { "only one".to_owned() } else { names.join(", ") },
        })
    }
}

/// Every row, by name.
pub fn all() -> impl Iterator<Item = &'static Provider> {
    table::rows()
}

/// By its name, whatever the case, or by another name that people know it by.
pub fn find(name: &str) -> Option<&'static Provider> {
    resolve(name).map(|(provider, _)| provider)
}

/// Other names, and the scheme that each stands for.
const ALIASES: [(&str, &str, Option<&str>); 24] = [
    ("adyen-standard", "adyen", None),
    ("aws", "aws-sns", None),
    ("cal", "calcom", None),
    ("cal.com", "calcom", None),
    ("coinbase", "coinbase-commerce", None),
    ("customer.io", "customerio", None),
    ("dropboxsign", "dropbox-sign", None),
    ("event-grid", "azure-event-grid", None),
    ("facebook", "meta", None),
    ("getstream", "stream", None),
    ("hellosign", "dropbox-sign", None),
    ("hubspot-v1", "hubspot", Some("v1")),
    ("hubspot-v2", "hubspot", Some("v2")),
    ("hubspot-v3", "hubspot", Some("v3")),
    ("instagram", "meta", None),
    ("intuit", "quickbooks", None),
    ("lemon-squeezy", "lemonsqueezy", None),
    ("mollie-classic", "mollie", Some("classic")),
    ("sns", "aws-sns", None),
    ("standardwebhooks", "standard-webhooks", None),
    ("tiktok", "tiktok-shop", None),
    ("upstash", "qstash", None),
    ("whatsapp", "meta", None),
    ("x", "twitter", None),
];

/// The row, and the scheme if the name says which: `hubspot (v3)`.
pub(crate) fn resolve(name: &str) -> Option<(&'static Provider, Option<&'static str>)> {
    const NAME_BYTES_MAX: usize = 64;
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let name = name.trim().to_ascii_lowercase();
    let dashed = |name: &str| {
        let words = name.split([' ', '_', '(', ')', '-']).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    };
    lookup(&name)
        .or_else(|| lookup(&dashed(&name)))
        .or_else(|| lookup(&dashed(name.split_once('(')?.0)))
}

fn lookup(name: &str) -> Option<(&'static Provider, Option<&'static str>)> {
    if let Some(provider) = table::find(name) {
        return Some((provider, None));
    }
    let (_, name, scheme) = ALIASES.iter().find(|(alias, ..)| *alias == name)?;
    Some((table::find(name)?, *scheme))
}

impl Rule {
    /// How events of this provider are told apart, where it gives them something to go by.
    pub fn of_provider(name: &str) -> Option<Self> {
        preset(find(name)?.id)
    }
}

/// Where this provider says what type an event is. For whoever asks for more than one event.
pub fn event_type_rule(provider: &str) -> Option<Rule> {
    preset(find(provider)?.event_type)
}

/// The same for a source, whose own word (`eventType` among its settings) counts before that of
/// its provider.
pub fn event_type_rule_of(source: &Source) -> Result<Option<Rule>, BadRule> {
    match source.config.get(EVENT_TYPE_SETTING).and_then(Value::as_str) {
        Some(expression) => Rule::parse(expression).map(Some),
        None => Ok(event_type_rule(&source.provider)),
    }
}

pub fn event_type_of(provider: &str, arriving: &Arriving<'_>) -> Option<String> {
    event_type_rule(provider)?.text(arriving)
}

pub(crate) fn batch_of(provider: &str) -> Batch {
    find(provider).map_or(Batch::No, |provider| provider.batch)
}

/// Every preset is understood; a test reads them all.
fn preset(expression: &str) -> Option<Rule> {
    Rule::parse(expression).ok()
}

#[cfg(test)]
mod tests;
