//! Who sent this? Answers the handshakes of providers, and checks signatures, before anything is
//! taken in.

use bytes::Bytes;
use ferryhook_core::handshake::{Reply, Then};
use ferryhook_core::source::VerificationMode;
use ferryhook_core::verify::doctor::{self, Other};
use ferryhook_core::verify::{self, Verdict, Verifier};
use ferryhook_core::{Event, Rejection, Secret, Source, Timestamp};
use ferryhook_store::repositories::Edit;
use hyper::http::request::Parts;

use super::letter::Letter;
use super::meters::Outcome;
use super::refusal::Refusal;
use super::span::LetIn;
use super::{Door, Taken, answer, limits, public_url};
use crate::routes::Route;

/// Writes that may come between reading a source and writing it; counters, as a rule.
const TRIES_MAX: usize = 8;

/// A request as far as it has to prove something.
pub(super) struct Claimed<'a> {
    pub(super) letter: &'a Letter,
    pub(super) url: String,
    pub(super) body: &'a Bytes,
    /// When it came.
    pub(super) at: Timestamp,
}

impl<'a> Claimed<'a> {
    pub(super) fn new(door: &Door, head: &Parts, letter: &'a Letter, body: &'a Bytes) -> Self {
        Self { letter, url: door.url_of(head), body, at: door.env.now() }
    }

    /// The same for a request that was refused.
    pub(super) fn again(
        door: &Door,
        letter: &'a Letter,
        body: &'a Bytes,
        rejection: &Rejection,
    ) -> Self {
        // What is configured may have been mended since.
        let configured = door.settings.public_url.as_deref();
        let url = match (&rejection.url, configured) {
            (Some(url), None) => url.clone(),
            _ => public_url::again(configured, rejection.source_id, letter),
        };
        Self { letter, url, body, at: rejection.rejected_at }
    }

    /// The same for one that was taken in, by each address that it may have been called at.
    pub(super) fn of(
        door: &Door,
        letter: &'a Letter,
        body: &'a Bytes,
        event: &Event,
    ) -> impl Iterator<Item = Self> {
        let configured = door.settings.public_url.as_deref();
        let own = public_url::again(configured, event.source_id, letter);
        let forwarded = match configured {
            Some(_) => None,
            None => public_url::as_forwarded(event.source_id, letter),
        };
        let at = event.received_at;
        [Some(own), forwarded].into_iter().flatten().map(move |url| Self { letter, url, body, at })
    }

    fn request(&self) -> verify::Request<'_> {
        verify::Request {
            method: &self.letter.method,
            url: &self.url,
            headers: &self.letter.headers,
            body: self.body,
        }
    }
}

impl Door {
    /// The answer, if the provider only wants to know whether someone is there.
    pub(super) async fn shake_hands(
        &self,
        route: &Route,
        claimed: &Claimed<'_>,
    ) -> Result<Option<Taken>, Refusal> {
        let reply = route.proof.handshakes.answer(&claimed.request());
        let Some(reply) = reply else { return Ok(None) };
        if matches!(reply.then, Then::Call(_)) && !names_topic(&route.source) {
            // Any account of the provider could have sent it, and its messages would count from
            // then on. It is kept as an event, for the owner to look at.
            let source = route.source.id;
            tracing::warn!(source.id = %source, "a subscription is not confirmed: the source has no topicArn in its config");
            return Ok(None);
        }
        if reply.verified_first
            && let Some(reason) = self.doubt(route, claimed).await?
        {
            return Err(Refusal::Unproven { reason, body: claimed.body.clone() });
        }
        Box::pin(self.follow(route, &reply)).await?; // rare, and large
        let let_in = LetIn { account: route.source.account_id, told: Vec::new() };
        let answer = answer::handshake(reply);
        Ok(Some(Taken { answer, outcome: Outcome::Handshake, let_in }))
    }

    /// Refuses what does not prove who sent it, unless the source wants to see it: then why it is
    /// to be marked. `None` is as it should be.
    pub(super) async fn prove(
        &self,
        route: &Route,
        claimed: &Claimed<'_>,
    ) -> Result<Option<String>, Refusal> {
        match (self.doubt(route, claimed).await?, route.proof.mode) {
            (None, _) => Ok(None),
            (Some(reason), VerificationMode::Mark) => Ok(Some(reason)),
            (Some(reason), VerificationMode::Reject) => {
                Err(Refusal::Unproven { reason, body: claimed.body.clone() })
            }
        }
    }

    /// Why it is not proven, if it is not.
    pub(super) async fn doubt(
        &self,
        route: &Route,
        claimed: &Claimed<'_>,
    ) -> Result<Option<String>, Refusal> {
        let verifier = match &route.proof.verifier {
            Ok(None) => return Ok(None),
            Ok(Some(verifier)) => verifier,
            Err(error) => {
                return Ok(Some(format!(
                    "What the source says about signatures is wrong: {error}"
                )));
            }
        };
        let request = claimed.request();
        for _ in 0..=limits::CERTIFICATES_PER_REQUEST {
            match verifier.check(&request, claimed.at, &self.fetched) {
                Verdict::Valid => return Ok(None),
                Verdict::Invalid(reason) => return Ok(Some(reason.to_string())),
                Verdict::NeedsCertificate(url) => {
                    if !Box::pin(self.fetched.fetch(&url)).await {
                        return Err(Refusal::ProofAway);
                    }
                }
            }
        }
        Err(Refusal::ProofAway)
    }

    /// The same for people, who want to know what to mend. It tries hundreds of signatures, so it
    /// is asked by those who look at what was refused, never for a stranger's request. `others` are
    /// the secrets of other places.
    pub(super) fn diagnose(
        &self,
        verifier: &Verifier,
        claimed: &Claimed<'_>,
        others: &[Other<'_>],
    ) -> String {
        doctor::explain(verifier, &claimed.request(), claimed.at, &self.fetched, others)
    }

    /// What a handshake asks for besides an answer.
    async fn follow(&self, route: &Route, reply: &Reply) -> Result<(), Refusal> {
        match &reply.then {
            Then::Nothing => Ok(()),
            Then::Keep(secret) => self.keep_secret(&route.source, secret).await,
            Then::Call(url) => {
                let source = route.source.id;
                if !route.proof.is_needed() {
                    tracing::warn!(source.id = %source, "a subscription is not confirmed: the source checks no signatures");
                    return Ok(());
                }
                let Some(outside) = self.fetched.outside().cloned() else {
                    return Err(Refusal::ProofAway);
                };
                match outside.get(url).await {
                    Ok(_) => tracing::info!(source.id = %source, "a subscription is confirmed"),
                    Err(error) => {
                        tracing::warn!(source.id = %source, error, "a subscription cannot be confirmed");
                        return Err(Refusal::ProofAway);
                    }
                }
                Ok(())
            }
        }
    }

    /// The secret that the provider made up. Only the first one counts: whoever knows the address
    /// could send another.
    async fn keep_secret(&self, source: &Source, secret: &Secret) -> Result<(), Refusal> {
        for _ in 0..TRIES_MAX {
            let found = self.store.sources().find(source.id).await;
            let found = found.map_err(|error| self.store_away(&error))?;
            let Some(was) = found.filter(|found| found.signing_secret.is_none()) else {
                return Ok(());
            };
            let mut now = was.record.clone();
            now.signing_secret = Some(secret.clone());
            now.updated_at = self.env.now();
            match self.store.sources().edit(&[Edit::ReplaceSource(was, now)]).await {
                Ok(()) => {
                    self.routes.forget(source.id);
                    tracing::info!(source.id = %source.id, "the provider's secret is kept");
                    return Ok(());
                }
                Err(error) if error.is_refused() => {}
                Err(error) => return Err(self.store_away(&error)),
            }
        }
        Err(Refusal::StoreAway)
    }
}

fn names_topic(source: &Source) -> bool {
    ["topicArn", "topic_arn"].iter().any(|name| source.config.contains_key(*name))
}
