//! Size, time and room.

use std::sync::atomic::AtomicUsize;

use ferryhook_core::limits::BODY_BYTES_DEFAULT;
use ferryhook_core::rejection::Cause;
use futures_util::{StreamExt, stream};
use http_body_util::StreamBody;
use hyper::body::{Frame, SizeHint};

use super::*;

type Piece = Result<Frame<Bytes>, std::io::Error>;

/// Comes piece by piece and says nothing of its length, as a chunked body does.
fn chunked(pieces: impl IntoIterator<Item = Bytes>) -> impl Body<Data = Bytes> + Send {
    let pieces: Vec<Piece> = pieces.into_iter().map(|piece| Ok(Frame::data(piece))).collect();
    StreamBody::new(stream::iter(pieces))
}

fn request<B>(body: B) -> Request<B> {
    Request::post(ADDRESS).body(body).unwrap()
}

/// Declares a length and counts how often it is asked for a byte.
struct Declared {
    bytes: u64,
    asked: Arc<AtomicUsize>,
}

impl Body for Declared {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Poll::Pending
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes)
    }
}

#[tokio::test]
async fn exactly_the_limit_is_taken() {
    let gate = gate(plain()).await;
    let body = Bytes::from(vec![b'x'; BODY_BYTES_DEFAULT]);
    assert_eq!(gate.send(post(body.clone())).await.status, 200);
    let halves = [body.slice(..100_000), body.slice(100_000..)];
    let seen = gate.send(request(chunked(halves))).await;
    assert_eq!(seen.status, 200);
    assert_eq!(gate.event(seen.id()).await.body.as_bytes(), &body);
}

/// The sender would get `100 Continue` if a single byte were asked for.
#[tokio::test]
async fn a_declared_length_is_judged_unread() {
    let gate = gate(plain()).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let body = Declared { bytes: BODY_BYTES_DEFAULT as u64 + 1, asked: asked.clone() };
    let seen = gate.send(request(body)).await;
    assert_eq!((seen.status, &seen.body["code"]), (413, &json!("PAYLOAD_TOO_LARGE")));
    assert_eq!(seen.header("connection"), Some("close"));
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let kept = gate.rejections().await;
    assert_eq!((kept.len(), kept[0].cause, kept[0].body_truncated), (1, Cause::TooLarge, true));
}

/// It is not read on once it is too much.
#[tokio::test]
async fn an_undeclared_length_is_judged_as_it_comes() {
    let gate = gate(plain()).await;
    let pieces = std::iter::repeat_with(|| {
        Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; 65_536])))
    });
    let endless = StreamBody::new(stream::iter(pieces));
    let seen = gate.send(request(endless)).await;
    assert_eq!((seen.status, seen.header("connection")), (413, Some("close")));
    assert!(gate.events().await.is_empty());
    let kept = gate.rejections().await.remove(0);
    assert_eq!((kept.body.len(), kept.body_truncated), (limits::BEGINNING_BYTES_KEPT, true));
}

/// A source may allow more than one item can hold: then it is refused, not cut.
#[tokio::test]
async fn what_does_not_fit_the_store_is_refused() {
    let gate = gate(Source { body_bytes_max: Some(10 * 1024 * 1024), ..plain() }).await;
    for (bytes, status) in [(390 * 1024, 200), (400 * 1024, 413), (9_000_000, 413)] {
        let seen = gate.send(post(vec![b'x'; bytes])).await;
        assert_eq!(seen.status, status, "{bytes} bytes: {}", seen.body);
    }
    let edge = |bytes| {
        Request::post(ADDRESS)
            .header("x-long", "\"".repeat(1000))
            .body(Full::new(Bytes::from(vec![b'x'; bytes])))
            .unwrap()
    };
    // Whatever the door lets in, the store takes: nothing between the two.
    let fits = (limits::EVENT_BYTES_MAX - 4096..limits::EVENT_BYTES_MAX + 16).rev().step_by(64);
    let (mut seen, commits) = (413, gate.probe.commits());
    for bytes in fits {
        seen = gate.send(edge(bytes)).await.status;
        if seen != 413 {
            break;
        }
    }
    assert_eq!(seen, 200);
    assert_eq!(gate.probe.commits(), commits + 1, "the store was not asked in vain");
}

#[tokio::test]
async fn trailers_are_dropped() {
    let gate = gate(plain()).await;
    let mut trailers = HeaderMap::new();
    trailers.insert("x-late", "1".parse().unwrap());
    let pieces: [Piece; 2] = [Ok(Frame::data("x".into())), Ok(Frame::trailers(trailers))];
    let seen = gate.send(request(StreamBody::new(stream::iter(pieces)))).await;
    let event = gate.event(seen.id()).await;
    assert_eq!((event.body.len(), event.headers.find("x-late")), (1, None));
}

/// One deadline for all of it: a byte a second does not extend it.
#[tokio::test(start_paused = true)]
#[expect(
    clippy::disallowed_methods,
    reason = "the deadline is the runtime's, whose clock is paused"
)]
async fn a_dripping_body_is_cut_off() {
    let gate = gate(plain()).await;
    let drip = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"x"))), ()))
    });
    let drip = StreamBody::new(drip.boxed());
    let before = tokio::time::Instant::now();
    let seen = gate.send(request(drip)).await;
    assert_eq!((seen.status, &seen.body["code"]), (408, &json!("REQUEST_TIMEOUT")));
    assert_eq!(seen.header("connection"), Some("close"));
    assert_eq!(before.elapsed().as_secs(), limits::BODY.as_secs());
    assert!(gate.events().await.is_empty());
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let gate = gate(plain()).await;
    let pieces: [Piece; 2] =
        [Ok(Frame::data("x".into())), Err(std::io::ErrorKind::BrokenPipe.into())];
    let seen = gate.send(request(StreamBody::new(stream::iter(pieces)))).await;
    assert_eq!((seen.status, seen.header("connection")), (400, Some("close")));
    assert!(gate.events().await.is_empty());
}

/// More wait for the store than may: the next is told so at once, and all others are served.
#[tokio::test]
async fn a_crowd_is_turned_away() {
    let gate = gate(plain()).await;
    gate.post("warm").await;
    gate.probe.hold();
    let mut waiting: Vec<_> = (0..limits::WAITING_MAX).map(|_| Box::pin(gate.post("x"))).collect();
    for request in &mut waiting {
        assert!(futures_util::poll!(request).is_pending());
    }
    let seen = gate.post("x").await;
    assert_eq!((seen.status, seen.header("retry-after")), (503, Some("1")));
    gate.probe.let_go();
    for request in waiting {
        assert_eq!(request.await.status, 200);
    }
    assert_eq!(gate.post("x").await.status, 200);
}

/// The same by bytes.
#[tokio::test]
async fn a_crowd_is_also_a_matter_of_size() {
    let gate = gate(plain()).await;
    gate.post("warm").await;
    gate.probe.hold();
    let body = Bytes::from(vec![b'x'; BODY_BYTES_DEFAULT]);
    let fits = limits::WAITING_BYTES_MAX / BODY_BYTES_DEFAULT;
    let mut waiting: Vec<_> = (0..fits).map(|_| Box::pin(gate.send(post(body.clone())))).collect();
    for request in &mut waiting {
        assert!(futures_util::poll!(request).is_pending());
    }
    assert_eq!(gate.post("x").await.status, 503);
    gate.probe.let_go();
    for request in waiting {
        assert_eq!(request.await.status, 200);
    }
}
