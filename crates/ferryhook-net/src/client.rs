//! The client: calls the URLs that users have typed.
//!
//! It is built for destinations that nobody vouches for. The [`Guard`] decides who may be
//! called, and what is dialled is the address it has seen. One deadline covers a call from the
//! name lookup to the last byte of the body; everything else that could grow has a bound in
//! [`limits`]. Redirects are answers like any other, and nothing from the environment (proxies)
//! or from earlier calls (cookies) takes part; bodies are kept as they came, never unpacked.
//!
//! **What counts as an answer.** A complete head is one: its status holds even if the body is
//! then cut, drips until the deadline or never ends; [`Reply::body`] is what came until then.
//! Without a complete head there is no answer ([`Unsent`]), and [`Why`] tells what went wrong.
//!
//! **What is sent twice.** A request goes out again, once and on a new connection, if it was
//! sent on one that had rested and not a byte came back: the other side had most likely closed
//! it a moment before. Everything else is left to the caller's schedule.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::Env;
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::{HeaderMap, Method, Request};

use crate::Tasks;
use crate::alarm::Alarm;
use connector::Connector;
use course::{Course, Failure};
use exchange::exchange;
use line::Line;
use pool::{Ends, Pool, Room};

mod address;
mod connector;
mod course;
mod exchange;
mod guard;
mod identity;
pub mod limits;
mod line;
mod name;
mod pool;
mod resolver;
mod target;
mod tls;
mod wire;

pub use course::{Timing, Why};
pub use guard::{Guard, Refusal};
pub use identity::{BadIdentity, Identity};
pub use resolver::{Resolve, SystemResolver, Unresolved};
pub use target::Target;
pub use tls::{BadRoots, Roots};

/// What is sent, and how long it may take in all.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub target: Target,
    pub method: Method,
    /// `Host` and whatever frames the message is set here, not taken from these.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Shown to whoever asks for a certificate; only over TLS.
    pub identity: Option<Identity>,
    pub timeout: Duration,
}

/// What came back, whatever its status.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    /// Its first bytes, as they came.
    pub body: Bytes,
    pub timing: Timing,
}

/// No answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Unsent {
    pub why: Why,
    /// One short sentence for whoever looks after the destination.
    pub message: String,
    pub timing: Timing,
}

/// Sends one request and brings back the answer.
pub trait Outbound: Send + Sync {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>>;
}

/// The guarded client. Clones share its connections.
#[derive(Clone)]
pub struct Client {
    guard: Guard,
    env: Env,
    tasks: Tasks,
    connector: Arc<Connector>,
    pool: Arc<Pool>,
    /// Of the body of an answer.
    keeps: usize,
}

impl Client {
    pub fn new(guard: Guard, env: Env, tasks: Tasks, roots: Roots) -> Self {
        Self::with_resolver(guard, env, tasks, roots, Arc::new(SystemResolver::new()))
    }

    /// Like [`Client::new`], with another way to look up names.
    pub fn with_resolver(
        guard: Guard,
        env: Env,
        tasks: Tasks,
        roots: Roots,
        resolver: Arc<dyn Resolve>,
    ) -> Self {
        let connector = Arc::new(Connector::new(guard.clone(), env.clone(), resolver, roots));
        let pool = Arc::new(Pool::new(Room::default()));
        Self { guard, env, tasks, connector, pool, keeps: limits::BODY_BYTES_KEPT }
    }

    /// With more or less of each answer's body, for whoever needs the whole of it.
    #[must_use]
    pub fn keeping(self, body_bytes: usize) -> Self {
        Self { keeps: body_bytes, ..self }
    }

    /// Who may be called.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    async fn call(&self, outgoing: Outgoing) -> Result<Reply, Unsent> {
        let (time, ends) = (outgoing.timeout, Ends::of(&outgoing));
        let mut course = Course::start(&self.env);
        if let Err(failure) = check(&outgoing) {
            return course.conclude::<()>(Some(Err(failure)), time);
        }
        let mut rested = self.rested_line(&outgoing.target, &ends, course.started()).await;
        let alarm = rested.as_mut().and_then(|line| line.alarm.take());
        let mut alarm = alarm.unwrap_or_else(Alarm::new);
        let mut ended = alarm.within(time, pin!(self.run(outgoing, rested, &mut course))).await;
        if let Some(Ok(line)) = &mut ended
            && let Some(mut line) = line.take()
        {
            line.alarm = Some(alarm);
            self.hang_up(&ends, line, &course);
        }
        course.conclude(ended, time)
    }

    /// Gives the line back if it can be used again.
    async fn run(
        &self,
        mut outgoing: Outgoing,
        rested: Option<Box<Line>>,
        course: &mut Course<'_>,
    ) -> Result<Option<Box<Line>>, Failure> {
        own_framing(&mut outgoing);
        if let Some(mut line) = rested {
            let request = request(&outgoing, outgoing.headers.clone());
            match exchange(&mut line, request, self.keeps, course).await {
                Ok(reusable) => return Ok(reusable.then_some(line)),
                Err(stumble) if stumble.unheard => {}
                Err(stumble) => return Err(stumble.failure),
            }
        }
        // Boxed: it is large, seldom needed, and would be carried along by every call.
        let (target, identity) = (&outgoing.target, outgoing.identity.as_ref());
        let mut line = Box::pin(self.connector.connect(target, identity, course)).await?;
        let headers = std::mem::take(&mut outgoing.headers);
        let answered = exchange(&mut line, request(&outgoing, headers), self.keeps, course).await;
        let reusable = answered.map_err(|stumble| stumble.failure)?;
        Ok(reusable.then_some(line))
    }

    /// An open line to the target that seems to work and may still be used.
    async fn rested_line(&self, target: &Target, ends: &Ends, now: Duration) -> Option<Box<Line>> {
        while let Some(mut line) = self.pool.take(ends, now) {
            if self.guard.admits(target, line.peer) && line.is_good().await {
                return Some(line);
            }
        }
        None
    }

    fn hang_up(&self, ends: &Ends, line: Box<Line>, course: &Course<'_>) {
        self.pool.keep_swept(&self.env, &self.tasks);
        self.pool.put(ends, line, course.now());
    }
}

impl Outbound for Client {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        Box::pin(self.call(outgoing))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("guard", &self.guard).finish_non_exhaustive()
    }
}

/// What is never sent, whoever is called.
fn check(outgoing: &Outgoing) -> Result<(), Failure> {
    if outgoing.method == Method::CONNECT {
        return Err(Failure::new(Why::Blocked, "CONNECT opens tunnels and is never sent"));
    }
    if outgoing.identity.is_some() && !outgoing.target.is_secure() {
        let message = "a client certificate can be shown over https only";
        return Err(Failure::new(Why::Blocked, message));
    }
    Ok(())
}

/// Headers that say where a message goes and where it ends. With a say in them a user could
/// smuggle a second request into the first.
const FRAMING: [HeaderName; 7] =
    [CONNECTION, CONTENT_LENGTH, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

fn own_framing(outgoing: &mut Outgoing) {
    for name in FRAMING {
        outgoing.headers.remove(name);
    }
    outgoing.headers.insert(HOST, outgoing.target.host_header().clone());
}

fn request(outgoing: &Outgoing, headers: HeaderMap) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(outgoing.body.clone()));
    *request.method_mut() = outgoing.method.clone();
    *request.uri_mut() = outgoing.target.request_uri().clone();
    *request.headers_mut() = headers;
    request
}

#[cfg(test)]
mod tests;
