//! The sender's half: what belongs into the headers of a signed request.

use super::{Checker, Time};
use crate::verify::Request;
use crate::verify::keys::Key;
use crate::verify::reason::Reason;
use crate::verify::scheme::Unit;
use crate::verify::template::{Filling, Template};

impl Checker {
    pub(in crate::verify) fn unit(&self) -> Unit {
        self.unit
    }

    /// The field of the body that has the time.
    pub(in crate::verify) fn time_field(&self) -> Option<&str> {
        match &self.time {
            Time::Body(name, _) => Some(name),
            Time::Nowhere | Time::InSignature | Time::Header(_) => None,
        }
    }

    /// Headers that belong to the signature, with what a sender might write into them.
    pub(in crate::verify) fn other_headers(&self, time: &str, id: &str) -> Vec<(String, String)> {
        let mut headers = self.requires.clone();
        headers.extend(self.agrees.clone());
        if let Time::Header(name) = &self.time {
            headers.push((name.clone(), time.to_owned()));
        }
        let named = self.templates.iter().take(1).flat_map(Template::headers);
        headers.extend(named.map(|name| (name.to_owned(), id.to_owned())));
        headers
    }

    /// What the sender signs.
    pub(in crate::verify) fn content(
        &self,
        request: &Request<'_>,
        time: &str,
    ) -> Result<Vec<u8>, Reason> {
        let template = self.templates.first().ok_or(Reason::NoValidSecret)?;
        let url = self.url.of_request(request.url);
        template.filled(&Filling { request, url: &url, timestamp: time, secret: &[] })
    }

    /// The signature that the first key makes; empty for a key that cannot make any.
    pub(in crate::verify) fn tag(
        &self,
        request: &Request<'_>,
        time: &str,
    ) -> Result<Vec<u8>, Reason> {
        let (Some(template), Some(key)) = (self.templates.first(), self.keys.first()) else {
            return Err(Reason::NoValidSecret);
        };
        if matches!(key.value, Key::Public(_)) {
            return Ok(Vec::new());
        }
        let url = self.url.of_request(request.url);
        let filling = Filling { request, url: &url, timestamp: time, secret: &[] };
        Ok(key.value.signature(template, &filling)?.as_ref().to_vec())
    }

    /// The header that has the signature.
    pub(in crate::verify) fn header(&self, signature: &[u8], time: &str) -> (String, String) {
        self.place.write(self.encoding.encode(signature), time)
    }
}
