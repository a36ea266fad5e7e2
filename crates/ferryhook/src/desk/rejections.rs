//! What was refused at the door of a source, and letting it in after all.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::rejection::Cause;
use ferryhook_core::verify::doctor::Other;
use ferryhook_core::{Id, Rejection, Source, limits};
use ferryhook_store::{Slice, Stored, Window};

use super::orders::{Readmit, Refused};
use super::view::{Readmitted, RejectionLine, RejectionList, RejectionStory};
use super::{Complaint, Desk};

/// Rejections that are looked at to find those that are wanted, and let in with one order.
const LOOKED_AT_MAX: usize = 10_000;
const READMITTED_MAX: usize = 200;
/// Of a list; each takes hundreds of signatures.
const DIAGNOSED_MAX: usize = 50;

impl Desk {
    pub(super) async fn list_rejections(
        &self,
        wanted: &Refused,
    ) -> Result<RejectionList, Complaint> {
        let source = self.find_source(&wanted.source).await?;
        let limit = wanted.limit.clamp(1, limits::PAGE_MAX);
        let (found, has_more) = self.rejections(source.id, wanted.cause, limit).await?;
        let sources = self.sources().await?;
        let mut data = Vec::with_capacity(found.len());
        for (place, one) in found.iter().enumerate() {
            let mut line = RejectionLine::from(&one.record);
            if place < DIAGNOSED_MAX {
                line.detail = self.diagnosis(one, &sources).await?.or(line.detail);
            }
            data.push(line);
        }
        Ok(RejectionList { data, has_more })
    }

    pub(super) async fn show_rejection(
        &self,
        source: &str,
        id: Id<Rejection>,
    ) -> Result<RejectionStory, Complaint> {
        let source = self.find_source(source).await?;
        let rejection = self.named(source.id, &[id]).await?.remove(0).record;
        let mut line = RejectionLine::from(&rejection);
        let sources = self.sources().await?;
        line.detail = self.diagnosis(&rejection, &sources).await?.or(line.detail);
        let headers = rejection.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned()));
        let body = rejection.body.as_text().map(str::to_owned);
        let bytes = rejection.body.as_bytes();
        Ok(RejectionStory {
            line,
            path: rejection.path.clone(),
            query: rejection.query.clone(),
            headers: headers.collect(),
            body_base64: body.is_none().then(|| STANDARD.encode(bytes)),
            body,
        })
    }

    /// What a signature lacks. It takes a server, which knows where senders reach it.
    async fn diagnosis(
        &self,
        rejection: &Rejection,
        sources: &[Source],
    ) -> Result<Option<String>, Complaint> {
        let (Some(ingest), Cause::Signature) = (&self.ingest, rejection.cause) else {
            return Ok(None);
        };
        let others = sources.iter().filter(|other| other.id != rejection.source_id);
        let others: Vec<_> = others
            .filter_map(|other| {
                let secret = other.signing_secret.as_ref()?;
                Some(Other { name: &other.name, secret })
            })
            .collect();
        Ok(ingest.diagnose(rejection, &others).await?)
    }

    pub(super) async fn readmit(&self, order: &Readmit) -> Result<Readmitted, Complaint> {
        let Some(ingest) = &self.ingest else {
            let reason = "only a server takes requests in; start one on this data, and ask again";
            return Err(Complaint::Refused(reason.to_owned()));
        };
        let source = self.find_source(&order.source).await?;
        let (mut rejections, has_more) = match order.ids.is_empty() {
            true => self.rejections(source.id, order.cause, READMITTED_MAX).await?,
            false => (self.named(source.id, &order.ids).await?, false),
        };
        rejections.sort_by_key(|one| (one.rejected_at, one.id)); // in the order they came
        let mut told = Readmitted { has_more, ..Readmitted::default() };
        for rejection in rejections {
            match ingest.readmit(rejection).await {
                Ok(events) => told.events.extend(events),
                Err(error) => told.refused.push(error.to_string()),
            }
        }
        Ok(told)
    }

    async fn named(
        &self,
        source: Id<Source>,
        ids: &[Id<Rejection>],
    ) -> Result<Vec<Stored<Rejection>>, Complaint> {
        let mut named = Vec::with_capacity(ids.len());
        for id in ids {
            let found = match id.made_at() {
                Some(at) => self.store.rejections().find(source, at, *id).await?,
                None => None,
            };
            let nothing = || Complaint::NotFound(format!("this source has no rejection {id}"));
            named.push(found.ok_or_else(nothing)?);
        }
        Ok(named)
    }

    /// The newest, and whether there may be more.
    async fn rejections(
        &self,
        source: Id<Source>,
        cause: Option<Cause>,
        limit: usize,
    ) -> Result<(Vec<Stored<Rejection>>, bool), Complaint> {
        let (mut found, mut looked_at) = (Vec::new(), 0);
        let mut slice = Slice::newest_first().limit(limits::PAGE_MAX);
        while looked_at < LOOKED_AT_MAX {
            let rejections = self.store.rejections();
            let page = rejections.list_by_source(source, Window::default(), slice.clone()).await?;
            looked_at += page.rows.len().max(1);
            let wanted = |one: &Stored<Rejection>| cause.is_none_or(|cause| one.cause == cause);
            found.extend(page.rows.into_iter().filter(wanted));
            let is_enough = found.len() > limit;
            found.truncate(limit);
            match page.next {
                Some(next) if !is_enough => slice = slice.after(Some(next)),
                next => return Ok((found, is_enough || next.is_some())),
            }
        }
        Ok((found, true))
    }
}
