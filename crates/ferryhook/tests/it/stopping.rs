use crate::ferry::Ferry;

#[test]
fn a_server_told_to_stop_exits_cleanly() {
    for signal in ["TERM", "INT"] {
        let mut ferry = Ferry::start();
        ferry.signal(signal);
        assert_eq!(ferry.wait().code(), Some(0), "{signal}");
    }
}

/// While it waits for load balancers it answers, and says that it is not ready.
#[test]
fn a_stopping_server_is_not_ready() {
    let mut ferry = Ferry::start_with(&[("FERRYHOOK_SHUTDOWN_DELAY_SECONDS", "300")]);
    ferry.signal("TERM");
    ferry.wait_for_log("stopping");
    let answer = ferry.get("/readyz");
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("is stopping"), "{answer:?}");
    assert_eq!(ferry.get("/healthz").status, 200);
    ferry.signal("TERM"); // enough waiting
    assert_eq!(ferry.wait().code(), Some(0));
}
