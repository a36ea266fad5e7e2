//! The key of the ledger, from whatever a source is asked to go by.

use std::borrow::Cow;

use super::arriving::sha256_hex;
use super::rule::bounded;
use super::{Arriving, BadRule, Rule};
use crate::{Body, Headers, Id, Source};

const PROVIDER_BYTES_MAX: usize = 64;

/// How one source recognises an event that comes again. Made once for a source.
#[derive(Debug, Clone)]
pub struct Dedup {
    source: Id<Source>,
    provider: String,
    /// The source's own expression or else its provider's; neither is fine.
    rule: Option<Rule>,
}

impl Dedup {
    pub fn of(source: &Source) -> Result<Self, BadRule> {
        let rule = match &source.dedup_expression {
            Some(expression) => Some(Rule::parse(expression)?),
            None => Rule::of_provider(&source.provider),
        };
        Ok(Self { source: source.id, provider: source.provider.clone(), rule })
    }

    /// The ledger's key for a request. What the source goes by comes first; an `Idempotency-Key`
    /// speaks where that says nothing.
    pub fn key(&self, arriving: &Arriving<'_>) -> Option<String> {
        let part = self.rule.as_ref().and_then(|rule| rule.key(arriving));
        let part = part.or_else(|| idempotency_key(arriving.headers))?;
        Some(ledger_key(self.source, &self.provider, &part))
    }

    /// The same for one of several events that came in one request. What the request as a whole
    /// says is the same for all of them, so there the place in it counts too.
    pub fn key_of_part(&self, arriving: &Arriving<'_>, index: usize) -> Option<String> {
        let key = self.key(arriving)?;
        let without_part = self.key(&Arriving { body: &Body::default(), ..*arriving });
        if without_part.as_ref() == Some(&key) {
            return Some(format!("{key}#{index}"));
        }
        Some(key)
    }
}

/// `STRIPE@src_…:evt_1`: the source in the broad sense, then what the event is called there.
///
/// The ledger's documented form is `SOURCE:event`, with the provider's name as the source. Taken
/// alone that name would let two accounts that use the same provider take each other's events for
/// copies (ids are unique per sender at best), or claim keys for one another on purpose. So the
/// source's id, which nobody can guess, is part of `SOURCE`. It contains no colon, so the first
/// one still divides the two.
pub fn ledger_key(source: Id<Source>, provider: &str, part: &str) -> String {
    format!("{}@{source}:{part}", ledger_source(provider))
}

/// Where the ledger remembers that the event under this key was erased: enough to recognise a copy
/// and too little to tell what the key said. The source's id in it, which nobody can guess, keeps
/// others from trying keys out.
pub fn erased_key(key: &str) -> String {
    format!("ERASED:{}", sha256_hex(key.as_bytes()))
}

/// Where the ledger says that there are such entries of a source, and until when.
pub fn erased_of(source: Id<Source>) -> String {
    format!("ERASED@{source}")
}

/// The provider as the ledger writes it: `STRIPE`, or `CUSTOM` where there is none.
pub fn ledger_source(provider: &str) -> Cow<'static, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !provider.is_empty()
        && provider.len() <= PROVIDER_BYTES_MAX
        && provider.bytes().all(is_plain);
    if is_name { provider.to_ascii_uppercase().into() } else { "CUSTOM".into() }
}

/// The sender's own word for "this is the same request", bare or quoted as a structured field.
pub fn idempotency_key(headers: &Headers) -> Option<String> {
    let value = headers.find("idempotency-key")?.trim();
    let key = match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted)?,
        None => value.to_owned(),
    };
    (!key.is_empty()).then(|| bounded(key))
}

/// Only quotes and backslashes are escaped there. Anything else is no structured field, and what
/// it means is anyone's guess: no key.
fn unquoted(text: &str) -> Option<String> {
    let mut key = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        key.push(match character {
            '\\' => characters.next().filter(|next| matches!(next, '"' | '\\'))?,
            '"' => return None,
            plain => plain,
        });
    }
    Some(key)
}
