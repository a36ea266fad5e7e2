use std::cell::Cell;

use super::*;

fn env() -> Env {
    Env::fixed("2026-01-01T00:00:00Z")
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again() {
    let (env, tries) = (env(), Cell::new(0));
    let answer = persistently(&env, || async {
        tries.set(tries.get() + 1);
        match tries.get() {
            3 => Ok("done"),
            _ => Err(Failure::Passing("throttled".into())),
        }
    });
    assert_eq!(answer.await.unwrap(), "done");
    assert_eq!(tries.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final() {
    let (env, tries) = (env(), Cell::new(0));
    let answer = persistently(&env, || async {
        tries.set(tries.get() + 1);
        Err::<(), _>(StoreError::Malformed("no".into()).into())
    });
    assert!(matches!(answer.await, Err(StoreError::Malformed(_))));
    assert_eq!(tries.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn tries_end_with_their_number_or_with_time() {
    let (env, tries) = (env(), Cell::new(0));
    let answer = persistently(&env, || async {
        tries.set(tries.get() + 1);
        Err::<(), _>(Failure::Passing("throttled".into()))
    });
    let error = answer.await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Unavailable(_, Some(last)) if last.to_string() == "throttled")
    );
    assert!(tries.get() <= TRIES_MAX);

    let answer = persistently(&env, || async {
        std::future::pending::<()>().await;
        Ok(())
    });
    assert!(matches!(answer.await, Err(StoreError::Unavailable(_, None))));
}

#[test]
fn waits_grow_to_a_bound() {
    assert_eq!(wait(0, 1.0), WAIT_FIRST);
    assert_eq!(wait(1, 0.5), WAIT_FIRST);
    assert_eq!(wait(40, 1.0), WAIT_MAX);
    assert_eq!(wait(5, 0.0), Duration::ZERO);
}
