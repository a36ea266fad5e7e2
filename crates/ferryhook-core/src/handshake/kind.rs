//! Handshakes, as data: how one is recognised, and what it is answered with.
//!
//! Places are expressions, the same that sources write: `query.challenge`, `body.payload.token`.

use crate::source::CustomResponse;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    pub methods: &'static [&'static str],
    /// All of these have to hold.
    pub when: &'static [When],
    /// Has to be what the source says under `verifyToken`, if it says anything.
    pub token: Option<&'static str>,
    pub status: u16,
    pub headers: &'static [(&'static str, Part)],
    pub content: Content,
    pub effect: Effect,
    pub verified_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// There is something at this place.
    Has(&'static str),
    Lacks(&'static str),
    Is(&'static str, &'static str),
}

/// The body of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Empty,
    Text(Part),
    Json(&'static [(&'static str, Part)]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What the request has at this place.
    Given(&'static str),
    Fixed(&'static str),
    Number(u32),
    /// Made with the source's secret of what the request has at this place.
    Keyed(Keyed, &'static str),
    /// Where the request comes from, if the source allows it.
    Origin(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    HmacSha256Hex,
    /// HMAC-SHA256 in base64 behind `sha256=`.
    HmacSha256Base64,
    /// The public key, a bar, and the HMAC-SHA1 under the SHA-1 of the private key.
    Braintree,
    /// SHA-256 of challenge, verify token and address.
    Ebay,
}

/// What else there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// What is at this place is the source's secret, if it has none yet.
    Keep(&'static str),
    /// Call the URL at this place, if it is one of Amazon SNS.
    CallSns(&'static str),
}

/// What a provider wants to hear for its events, where a 200 alone is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgement {
    pub status: u16,
    pub content_type: &'static str,
    pub body: &'static str,
}

impl From<&Acknowledgement> for CustomResponse {
    fn from(own: &Acknowledgement) -> Self {
        let Acknowledgement { status, content_type, body } = *own;
        Self { status, content_type: content_type.to_owned(), body: body.to_owned() }
    }
}

impl Handshake {
    /// Whether something in the answer is made with a secret.
    pub(crate) fn is_keyed(&self) -> bool {
        let is_keyed = |part: &Part| matches!(part, Part::Keyed(..));
        let in_content = match &self.content {
            Content::Empty => false,
            Content::Text(part) => is_keyed(part),
            Content::Json(fields) => fields.iter().any(|(_, part)| is_keyed(part)),
        };
        in_content || self.headers.iter().any(|(_, part)| is_keyed(part))
    }

    pub(crate) const fn on(methods: &'static [&'static str], when: &'static [When]) -> Self {
        Self {
            methods,
            when,
            token: None,
            status: 200,
            headers: &[],
            content: Content::Empty,
            effect: Effect::Nothing,
            verified_first: false,
        }
    }

    pub(crate) const fn get(when: &'static [When]) -> Self {
        Self::on(&["GET"], when)
    }

    pub(crate) const fn post(when: &'static [When]) -> Self {
        Self::on(&["POST"], when)
    }

    pub(crate) const fn token(mut self, place: &'static str) -> Self {
        self.token = Some(place);
        self
    }

    pub(crate) const fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) const fn text(mut self, part: Part) -> Self {
        self.content = Content::Text(part);
        self
    }

    pub(crate) const fn json(mut self, fields: &'static [(&'static str, Part)]) -> Self {
        self.content = Content::Json(fields);
        self
    }

    pub(crate) const fn headers(mut self, headers: &'static [(&'static str, Part)]) -> Self {
        self.headers = headers;
        self
    }

    pub(crate) const fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    pub(crate) const fn verified(mut self) -> Self {
        self.verified_first = true;
        self
    }
}
