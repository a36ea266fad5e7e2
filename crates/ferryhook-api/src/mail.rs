//! Letters: sent beside the requests that ask for them, by the operator's mail server.
//!
//! A request never waits for a mail server, and never learns whether a letter arrived. A few are
//! sent at a time, each is tried a few times, and the queue has an end. Where there is no mail
//! server, `ferryhook dev` keeps the last letters to be looked at ([`mailbox`]), and a server
//! says that it cannot send any. What a letter says is in [`letters`], and never in a log.

pub mod letters;
pub mod mailbox;
mod smtp;

use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::{Env, Secret, Timestamp};
use ferryhook_net::Tasks;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, watch};

use crate::problem::{Code, Problem};
use mailbox::Mailbox;
use smtp::Smtp;

pub use smtp::BadSmtp;

const QUEUE_MAX: usize = 256;
const AT_ONCE: usize = 4;
/// Before the second try, the third, and so on.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(20), Duration::from_secs(120)];

/// One letter, in plain text.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    pub to: String,
    pub subject: String,
    /// Links in it open doors, so it is as secret as they are.
    pub text: Secret,
}

/// The operator's mail server.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// `smtps://user:password@host`, or `smtp://host:port` for one that speaks in the clear.
    pub url: Secret,
    /// Whom letters come from.
    pub from: String,
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mailer(Way);

#[derive(Debug, Clone)]
enum Way {
    Server(mpsc::Sender<Letter>),
    Mailbox(Arc<Mailbox>, Env),
    Nowhere,
}

/// Why a letter was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    #[error("this server has no mail server")]
    Nowhere,
    #[error("too many letters wait to be sent")]
    Full,
}

impl From<NotSent> for Problem {
    fn from(why: NotSent) -> Self {
        Self::new(
            Code::Unavailable,
            match why {
                NotSent::Nowhere => {
                    "This server cannot send mail: whoever operates it has to name a mail server \
                     (setting mail.smtpUrl)."
                }
                NotSent::Full => "Too many letters wait to be sent. Ask again.",
            },
        )
    }
}

impl Mailer {
    pub fn to_server(server: &Server, env: &Env, tasks: &Tasks) -> Result<Self, BadSmtp> {
        let smtp = Smtp::new(server, env.clone())?;
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        tasks.spawn("mail", deliver(smtp, queue, tasks.stopping()));
        Ok(Self(Way::Server(sender)))
    }

    /// Keeps the last letters and sends none.
    pub fn to_mailbox(env: Env) -> Self {
        Self(Way::Mailbox(Arc::default(), env))
    }

    pub fn nowhere() -> Self {
        Self(Way::Nowhere)
    }

    pub fn can_send(&self) -> bool {
        !matches!(self.0, Way::Nowhere)
    }

    /// Takes the letter; it is sent when its turn comes.
    pub fn send(&self, letter: Letter) -> Result<(), NotSent> {
        match &self.0 {
            Way::Server(queue) => queue.try_send(letter).map_err(|_| {
                tracing::error!("a letter was not sent: too many wait already");
                NotSent::Full
            }),
            Way::Mailbox(mailbox, env) => {
                mailbox.put(letter, env.now());
                Ok(())
            }
            Way::Nowhere => Err(NotSent::Nowhere),
        }
    }

    /// The letters that were kept, the newest first.
    pub fn kept(&self) -> Vec<(Timestamp, Letter)> {
        match &self.0 {
            Way::Mailbox(mailbox, _) => mailbox.look(),
            _ => Vec::new(),
        }
    }
}

/// A few at a time. When the server stops, those under way are ended and those that wait are tried
/// once more, without pauses.
async fn deliver(smtp: Smtp, mut queue: mpsc::Receiver<Letter>, stop: impl Future<Output = ()>) {
    let mut stop = std::pin::pin!(stop.fuse());
    let (told, stopping) = watch::channel(false);
    let mut sending = FuturesUnordered::new();
    // Whoever ends this before it is done, because a stop has to end, leaves a line in the log.
    let mut unsent = Unsent(0);
    loop {
        tokio::select! {
            letter = queue.recv(), if sending.len() < AT_ONCE => match letter {
                Some(letter) => {
                    unsent.0 = queue.len() + sending.len() + 1;
                    sending.push(try_hard(&smtp, letter, stopping.clone()));
                }
                None if sending.is_empty() => break,
                None => drop(sending.next().await),
            },
            Some(()) = sending.next() => unsent.0 = queue.len() + sending.len(),
            () = stop.as_mut() => {
                queue.close();
                unsent.0 = queue.len() + sending.len();
                told.send_replace(true);
            }
        }
    }
    unsent.0 = 0;
}

/// Letters that nobody sends any more, should this go while there are some.
struct Unsent(usize);

impl Drop for Unsent {
    fn drop(&mut self) {
        if self.0 > 0 {
            tracing::error!(letters = self.0, "letters were not sent: the server stops");
        }
    }
}

async fn try_hard(smtp: &Smtp, letter: Letter, mut stopping: watch::Receiver<bool>) {
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        // Asked before the try: one that fails while the server stops is tried once more.
        let is_last = *stopping.borrow();
        match (smtp.send(&letter).await, pause) {
            (Ok(()), _) => return,
            (Err(error), Some(pause)) if error.may_pass() && !is_last => {
                tracing::warn!(%error, "a letter was not taken by the mail server; trying again");
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = stopping.wait_for(|stopping| *stopping) => {}
                }
            }
            (Err(error), _) => {
                tracing::error!(%error, "a letter was not sent");
                return;
            }
        }
    }
}
