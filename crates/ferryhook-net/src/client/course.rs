//! How far a call has come. Kept outside of the work itself, so that something is left to tell
//! when the deadline cuts the work off.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::Env;
use hyper::HeaderMap;

use super::wire::Meter;
use super::{Reply, Unsent};

/// How long each step took; None for a step that did not happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    pub dns: Option<Duration>,
    pub connect: Option<Duration>,
    pub tls: Option<Duration>,
    /// From the request being handed to an open connection to the first byte that came back.
    pub first_byte: Option<Duration>,
    /// Everything, up to the last byte of the body that was read.
    pub total: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The guard said no to the URL itself. Nothing was sent.
    Blocked,
    /// The guard said no to where the name leads at this moment. Nothing was sent.
    Misled,
    /// The name has no address, or nobody could tell.
    Dns,
    /// No connection came about.
    Refused,
    /// TLS could not be agreed on.
    Tls,
    /// The deadline passed first.
    Timeout,
    /// The connection ended before the answer did.
    Broken,
    /// What came back is not an answer in HTTP, or not within bounds.
    BadAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) why: Why,
    pub(super) message: Cow<'static, str>,
}

impl Failure {
    pub(super) fn new(why: Why, message: impl Into<Cow<'static, str>>) -> Self {
        Self { why, message: message.into() }
    }

    /// One text and one reason for every way not to reach an address that is not public: else
    /// the answers would map the ports of a network that the caller cannot see.
    pub(super) fn unreached_inside() -> Self {
        Self::new(Why::Refused, "no connection to the destination could be made")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Resolving,
    Connecting,
    /// Likewise, to an address that is allowed but not public.
    ConnectingInside,
    Securing,
    Waiting,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

pub(super) struct Course<'a> {
    env: &'a Env,
    started: Duration,
    step_started: Duration,
    step: Step,
    pub(super) timing: Timing,
    /// Of the line that is being waited on.
    meter: Option<Arc<Meter>>,
    /// There once the head has come: from then on the call has an answer, whatever follows.
    answer: Option<Answer>,
}

impl<'a> Course<'a> {
    pub(super) fn start(env: &'a Env) -> Self {
        let started = env.elapsed();
        let timing = Timing::default();
        Self {
            env,
            started,
            step_started: started,
            step: Step::Resolving,
            timing,
            meter: None,
            answer: None,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.env.elapsed()
    }

    pub(super) fn begin(&mut self, step: Step) {
        self.step = step;
        self.step_started = self.now();
    }

    pub(super) fn begin_waiting(&mut self, meter: Arc<Meter>) {
        self.begin(Step::Waiting);
        self.meter = Some(meter);
    }

    /// The head is complete: whatever follows, this is the answer.
    pub(super) fn answered(&mut self, answer: Answer) -> &mut Answer {
        self.note_first_byte();
        self.answer.insert(answer)
    }

    /// Only before the line may go to another call, which would use its meter anew.
    fn note_first_byte(&mut self) {
        let first = self.meter.take().and_then(|meter| meter.first_byte());
        self.timing.first_byte = first.map(|at| at.saturating_sub(self.step_started));
    }

    pub(super) fn step_took(&self) -> Option<Duration> {
        Some(self.now().saturating_sub(self.step_started))
    }

    pub(super) fn started(&self) -> Duration {
        self.started
    }

    /// The deadline fell into this step, and that it took so long is worth knowing.
    fn note_cut_step(&mut self) {
        match self.step {
            Step::Resolving => self.timing.dns = self.step_took(),
            Step::Connecting => self.timing.connect = self.step_took(),
            Step::Securing => self.timing.tls = self.step_took(),
            Step::ConnectingInside | Step::Waiting => {}
        }
    }

    /// A head without the end of its body is an answer; no head within the deadline is none.
    pub(super) fn conclude<T>(
        mut self,
        ended: Option<Result<T, Failure>>,
        deadline: Duration,
    ) -> Result<Reply, Unsent> {
        self.timing.total = self.now().saturating_sub(self.started);
        if let Some(Answer { status, headers, body }) = self.answer {
            return Ok(Reply { status, headers, body: Bytes::from(body), timing: self.timing });
        }
        let failure = match ended {
            Some(Err(failure)) => failure,
            _ => {
                self.note_cut_step();
                overdue(self.step, deadline)
            }
        };
        self.note_first_byte();
        let Failure { why, message } = failure;
        Err(Unsent { why, message: message.into_owned(), timing: self.timing })
    }
}

fn overdue(step: Step, deadline: Duration) -> Failure {
    let what = match step {
        Step::ConnectingInside => return Failure::unreached_inside(),
        Step::Resolving => "the name was not resolved",
        Step::Connecting => "there was no connection",
        Step::Securing => "TLS was not agreed on",
        Step::Waiting => "there was no answer",
    };
    Failure::new(Why::Timeout, format!("{what} within {deadline:?}"))
}
