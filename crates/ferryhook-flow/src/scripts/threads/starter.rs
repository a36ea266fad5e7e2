//! Starts threads at the priority of whoever made the starter, whoever asks for them.
//!
//! A thread begins with the priority of the one that starts it and cannot rise, and those who want
//! a script run may be threads that stand back.

use std::sync::mpsc;
use std::{io, thread};

use crate::scripts::limits::THREAD_STACK_BYTES;

type Work = Box<dyn FnOnce() + Send>;

struct Order {
    name: &'static str,
    work: Work,
    started: mpsc::SyncSender<io::Result<()>>,
}

/// Ends when it is dropped; those it has started go on.
#[derive(Debug)]
pub(super) struct Starter(mpsc::Sender<Order>);

impl Starter {
    pub(super) fn new() -> Self {
        let (orders, taken) = mpsc::channel::<Order>();
        let serve = move || {
            for Order { name, work, started } in taken {
                let _ = started.send(spawn(name, work)); // nobody waits who is gone
            }
        };
        if let Err(error) = spawn("scripts-starter", Box::new(serve)) {
            tell(&error);
        }
        Self(orders)
    }

    /// Whether it could be started.
    pub(super) fn start(&self, name: &'static str, work: impl FnOnce() + Send + 'static) -> bool {
        let (started, is_started) = mpsc::sync_channel(1);
        let order = Order { name, work: Box::new(work), started };
        let outcome = match self.0.send(order) {
            Ok(()) => is_started.recv().unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into())),
            // There was no thread to be had for the starter; there may be one now.
            Err(mpsc::SendError(Order { name, work, .. })) => spawn(name, work),
        };
        outcome.inspect_err(tell).is_ok()
    }
}

fn spawn(name: &str, work: Work) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES);
    builder.spawn(work).map(drop)
}

fn tell(error: &io::Error) {
    tracing::error!(%error, "a thread for scripts cannot be started");
}
