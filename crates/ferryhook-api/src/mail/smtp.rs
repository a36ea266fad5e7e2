//! The mail server, as it is spoken to.

use std::time::{Duration, UNIX_EPOCH};

use ferryhook_core::Env;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use super::{Letter, Server};

/// For one letter, from the connection to the last word.
const WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    env: Env,
}

/// The settings of the mail server do not make sense.
#[derive(Debug, thiserror::Error)]
pub enum BadSmtp {
    #[error("mail.smtpUrl is not the URL of a mail server such as smtps://user:password@host")]
    Url,
    #[error("mail.from is not an address such as Ferryhook <ferryhook@example.com>")]
    From,
}

/// Why a letter was not taken. Says nothing of what is in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Untaken {
    #[error("the letter cannot be written: {0}")]
    Malformed(String),
    #[error("the mail server did not take it: {0}")]
    Refused(#[source] lettre::transport::smtp::Error),
    #[error("the mail server took too long")]
    TooSlow,
}

impl Untaken {
    /// Whether it may go better another time.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Malformed(_) => false,
            Self::Refused(error) => !error.is_permanent(),
            Self::TooSlow => true,
        }
    }
}

impl Smtp {
    pub(super) fn new(server: &Server, env: Env) -> Result<Self, BadSmtp> {
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(server.url.expose());
        let transport = builder.map_err(|_| BadSmtp::Url)?.timeout(Some(WITHIN)).build();
        let from = server.from.parse().map_err(|_| BadSmtp::From)?;
        Ok(Self { transport, from, env })
    }

    pub(super) async fn send(&self, letter: &Letter) -> Result<(), Untaken> {
        let message = self.write(letter).map_err(Untaken::Malformed)?;
        match tokio::time::timeout(WITHIN, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Untaken::Refused(error)),
            Err(_) => Err(Untaken::TooSlow),
        }
    }

    fn write(&self, letter: &Letter) -> Result<Message, String> {
        let to: Mailbox = letter.to.parse().map_err(|_| "the address is not one".to_owned())?;
        let now = self.env.now();
        let date = UNIX_EPOCH + Duration::from_millis(now.as_millis().max(0).unsigned_abs());
        let mut bytes = [0u8; 16];
        self.env.fill(&mut bytes);
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let domain = self.from.email.domain();
        Message::builder()
            .from(self.from.clone())
            .to(to)
            .date(date)
            .message_id(Some(format!("<{name}@{domain}>")))
            .subject(&letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text.expose().to_owned())
            .map_err(|error| error.to_string())
    }
}
