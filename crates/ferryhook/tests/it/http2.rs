//! The same door over HTTP/2, as a proxy would use it.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::ingest::{ADDRESS, ferry_with, plain};

/// Several on one connection, one of them too large, which does not end the connection.
#[test]
fn several_on_one_connection() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let statuses = runtime.block_on(async {
        let stream = TokioIo::new(TcpStream::connect(&ferry.address).await.unwrap());
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let asking = async {
            let mut statuses = Vec::new();
            for bytes in [5, 262_144, 262_145, 3_000_000, 5] {
                let uri = format!("http://{}{ADDRESS}", ferry.address);
                let body = Full::new(Bytes::from(vec![b'x'; bytes]));
                let request = Request::post(uri).body(body).unwrap();
                let answer = sender.send_request(request).await.unwrap();
                assert!(answer.headers().contains_key("x-request-id"));
                statuses.push(answer.status());
                assert!(!answer.into_body().collect().await.unwrap().to_bytes().is_empty());
            }
            statuses
        };
        tokio::select! {
            statuses = asking => statuses,
            ended = connection => panic!("the connection ended: {ended:?}"),
        }
    });
    drop(runtime); // and with it the connection
    let (ok, large) = (StatusCode::OK, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(statuses, [ok, ok, large, large, ok]);
    ferry.stop();
}
