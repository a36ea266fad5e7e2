//! Answers that go on for long: quiet ones, and those that nobody takes.

use std::sync::atomic::AtomicUsize;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http_body_util::StreamBody;
use hyper::body::Frame;

use super::*;

type Pieces = BoxStream<'static, Result<Frame<Bytes>, Infallible>>;

/// Answers the one request with these pieces, and talks to the server meanwhile.
async fn served<T>(pieces: Pieces, talk: impl AsyncFnOnce(TcpStream) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let pieces = Arc::new(std::sync::Mutex::new(Some(pieces)));
    let service = service_fn(move |_: Request<Incoming>| {
        let pieces = pieces.lock().unwrap().take().unwrap();
        async move { Ok::<_, Infallible>(Response::new(StreamBody::new(pieces))) }
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = serve(listener, service, Bounds::default(), async {
        let _ = stopped.await;
    });
    let talking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(GET).await.unwrap();
        let told = talk(stream).await;
        stop.send(()).unwrap();
        told
    };
    tokio::join!(serving, talking).1
}

fn piece(bytes: impl Into<Bytes>) -> Result<Frame<Bytes>, Infallible> {
    Ok(Frame::data(bytes.into()))
}

/// No deadline for heads or idle connections concerns an answer that is under way.
#[tokio::test(start_paused = true)]
async fn a_quiet_answer_goes_on() {
    let pieces = stream::unfold(0, async |count| {
        if count > 0 {
            sleep(Duration::from_secs(3600)).await;
        }
        (count < 3).then(|| (piece(format!("piece {count};")), count + 1))
    });
    let answer = served(pieces.boxed(), async |mut stream| {
        let mut answer = String::new();
        while !answer.contains("piece 2;") {
            let mut chunk = [0; 1024];
            let read = stream.read(&mut chunk).await.unwrap();
            assert_ne!(read, 0, "closed after {answer:?}");
            answer.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
        }
        answer
    });
    assert!(answer.await.contains("piece 0;"));
}

/// Whoever asks and does not read is cut off, and has cost no more than buffers until then.
#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_given_up() {
    struct Told(Arc<Notify>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    const PIECE: usize = 64 * 1024;
    let (given, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (count, told) = (given.clone(), Told(gone.clone()));
    let pieces = stream::repeat_with(move || {
        let _kept = &told;
        count.fetch_add(PIECE, Ordering::Relaxed);
        piece(vec![b'x'; PIECE])
    });
    served(pieces.boxed(), async |stream| {
        gone.notified().await;
        drop(stream);
    })
    .await;
    let given = given.load(Ordering::Relaxed);
    assert!(given < 64 * 1024 * 1024, "{given} bytes");
}
