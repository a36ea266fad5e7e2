//! Connections are used again while they are good, and a call does not suffer from one that has
//! gone bad.

use super::*;

#[tokio::test]
async fn the_next_call_takes_the_same_connection() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    for _ in 0..5 {
        assert_eq!(client.send(post(&receiver.url())).await.unwrap().body, "ok");
    }
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 5));
}
