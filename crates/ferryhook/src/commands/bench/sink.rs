//! The sink: where relay and Ferryhook deliver to. It answers 200 to everything and remembers
//! when each number came first.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::Env;
use ferryhook_net::Tasks;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::http::Wire;
use super::letter;
use super::load::Sent;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// Longer than the first wait of the usual retry schedule, so that an event on its second attempt
/// is late and not lost.
const PATIENCE: Duration = Duration::from_secs(45);
const LOOK_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct Sink {
    pub address: SocketAddr,
    arrivals: Arc<Mutex<Arrivals>>,
    env: Env,
    /// Dropped with the sink, and so are its connections.
    _tasks: Tasks,
}

#[derive(Debug, Default)]
struct Arrivals {
    /// By number.
    first_at: Vec<Option<Duration>>,
    last_at: Duration,
    repeats: u64,
    strange: u64,
}

/// What has become of letters that were acknowledged.
#[derive(Debug)]
pub struct Received {
    /// When the last of them came.
    pub last_at: Duration,
    /// When each came, in the order of the acknowledgements.
    pub at: Vec<Option<Duration>>,
    /// How many letters came again since the last look, whoever they belong to.
    pub repeats: u64,
    /// How many requests were no letter.
    pub strange: u64,
}

impl Received {
    pub fn lost(&self) -> usize {
        self.at.iter().filter(|at| at.is_none()).count()
    }
}

impl Sink {
    pub async fn open(env: &Env) -> io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, tasks) = (listener.local_addr()?, Tasks::new());
        let arrivals = Arc::default();
        tasks.spawn("sink", accept(listener, Arc::clone(&arrivals), env.clone()));
        Ok(Self { address, arrivals, env: env.clone(), _tasks: tasks })
    }

    /// Waits until everything that was acknowledged is here, or nothing comes any more.
    pub async fn wait_for(&self, sent: &Sent) -> Received {
        let numbers: Vec<usize> =
            sent.answered.iter().map(|answered| answered.number as usize).collect();
        let mut open = numbers.clone();
        loop {
            let last_at = {
                let arrivals = lock(&self.arrivals);
                open.retain(|number| arrivals.find(*number).is_none());
                arrivals.last_at
            };
            let quiet_since = last_at.max(sent.ended);
            if open.is_empty() || self.env.elapsed() > quiet_since + PATIENCE {
                break;
            }
            sleep(LOOK_EVERY).await;
        }
        let mut arrivals = lock(&self.arrivals);
        let at: Vec<_> = numbers.iter().map(|number| arrivals.find(*number)).collect();
        Received {
            last_at: at.iter().flatten().max().copied().unwrap_or(sent.ended),
            at,
            repeats: std::mem::take(&mut arrivals.repeats),
            strange: std::mem::take(&mut arrivals.strange),
        }
    }
}

impl Arrivals {
    fn find(&self, number: usize) -> Option<Duration> {
        self.first_at.get(number).copied().flatten()
    }

    fn note(&mut self, number: Option<u32>, at: Duration) {
        self.last_at = at;
        let Some(number) = number.map(|number| number as usize) else {
            self.strange += 1;
            return;
        };
        if self.first_at.len() <= number {
            self.first_at.resize(number + 1, None);
        }
        match &mut self.first_at[number] {
            Some(_) => self.repeats += 1,
            first => *first = Some(at),
        }
    }
}

async fn accept(listener: TcpListener, arrivals: Arc<Mutex<Arrivals>>, env: Env) {
    let mut connections = JoinSet::new();
    // What cannot be accepted shows as an event that is lost.
    while let Ok((stream, _)) = listener.accept().await {
        let (arrivals, env) = (arrivals.clone(), env.clone());
        while connections.try_join_next().is_some() {} // forget those that are done
        connections.spawn(async move {
            let _ = answer(Wire::new(stream), &arrivals, &env).await;
        });
    }
}

async fn answer(mut wire: Wire, arrivals: &Mutex<Arrivals>, env: &Env) -> io::Result<()> {
    while let Some(number) = wire.receive(|_, body| letter::number_of(body)).await? {
        lock(arrivals).note(number, env.elapsed());
        wire.send(ANSWER).await?;
    }
    Ok(())
}

fn lock(arrivals: &Mutex<Arrivals>) -> MutexGuard<'_, Arrivals> {
    arrivals.lock().unwrap_or_else(PoisonError::into_inner)
}
