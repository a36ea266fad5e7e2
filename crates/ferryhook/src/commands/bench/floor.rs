//! `ferryhook bench-floor`: the least that anyone could do, to compare with.
//!
//! `http` reads the body and answers. `relay` appends the body to a file, waits for the disk (one
//! sync for all that wait), answers, and passes the body on through a pooled client: no retries,
//! no signature, no record of anything. Both are plain hyper, without our bounds and deadlines.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::cli::BenchFloor;

/// Letters that wait for the writer.
const WAITING_MAX: usize = 4096;
/// Deliveries under way: as many as Ferryhook has for one destination.
const FORWARDS_MAX: usize = 64;

pub fn run(asked: &BenchFloor) -> anyhow::Result<()> {
    end_with_parent();
    let floor = match asked {
        BenchFloor::Http => Floor::Http,
        BenchFloor::Relay { file, forward } => {
            Floor::Relay(Arc::new(Relay::new(file, forward.clone())?))
        }
    };
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(serve(floor))
}

#[derive(Debug, Clone)]
enum Floor {
    Http,
    Relay(Arc<Relay>),
}

#[expect(clippy::disallowed_methods, reason = "the floor does without an owner of tasks")]
async fn serve(floor: Floor) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(io::stdout(), "http://{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let floor = floor.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| floor.clone().answer(request));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Floor {
    async fn answer(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<Empty<Bytes>>, Infallible> {
        let mut response = Response::new(Empty::new());
        let taken = match (request.into_body().collect().await, self) {
            (Ok(_), Self::Http) => Ok(()),
            (Ok(body), Self::Relay(relay)) => relay.take(body.to_bytes()).await,
            (Err(error), _) => Err(error.into()),
        };
        if let Err(error) = taken {
            eprintln!("ferryhook: the floor failed: {error:#}");
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        Ok(response)
    }
}

#[derive(Debug)]
struct Relay {
    journal: mpsc::Sender<(Bytes, oneshot::Sender<()>)>,
    client: Client<HttpConnector, Full<Bytes>>,
    forward: Uri,
    room: Arc<Semaphore>,
}

impl Relay {
    fn new(file: &Path, forward: Uri) -> anyhow::Result<Self> {
        let file = File::create_new(file).context("cannot make the journal")?;
        let (journal, letters) = mpsc::channel(WAITING_MAX);
        std::thread::spawn(move || {
            if let Err(error) = write(file, letters) {
                eprintln!("ferryhook: the floor cannot write: {error}");
            }
        });
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { journal, client, forward, room: Arc::new(Semaphore::new(FORWARDS_MAX)) })
    }

    /// Durable when it returns, and on its way.
    #[expect(clippy::disallowed_methods, reason = "the floor does without an owner of tasks")]
    async fn take(self: Arc<Self>, body: Bytes) -> anyhow::Result<()> {
        let (done, durable) = oneshot::channel();
        self.journal.send((body.clone(), done)).await?;
        durable.await?;
        let place = self.room.clone().acquire_owned().await?;
        tokio::spawn(async move {
            if let Err(error) = self.deliver(body).await {
                eprintln!("ferryhook: the floor cannot deliver: {error:#}");
            }
            drop(place);
        });
        Ok(())
    }

    async fn deliver(&self, body: Bytes) -> anyhow::Result<()> {
        let request = Request::post(self.forward.clone()).body(Full::new(body))?;
        self.client.request(request).await?.into_body().collect().await?;
        Ok(())
    }
}

/// While one group syncs the next one gathers.
fn write(
    mut file: File,
    mut letters: mpsc::Receiver<(Bytes, oneshot::Sender<()>)>,
) -> io::Result<()> {
    let (mut group, mut waiting) = (Vec::new(), Vec::new());
    while let Some(first) = letters.blocking_recv() {
        let mut next = Some(first);
        while let Some((letter, done)) = next {
            group.extend_from_slice(&letter);
            waiting.push(done);
            next = letters.try_recv().ok();
        }
        file.write_all(&group)?;
        file.sync_data()?;
        group.clear();
        for done in waiting.drain(..) {
            let _ = done.send(());
        }
    }
    Ok(())
}

/// A benchmark that is killed leaves no floor behind: it held the other end of our input.
fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}
