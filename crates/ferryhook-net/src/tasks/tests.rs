use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Tasks;

const GRACE: Duration = Duration::from_secs(5);

/// Shutdown waits for work, also for work that other work started.
#[tokio::test(start_paused = true)]
async fn finishing_waits_for_tasks_and_their_tasks() {
    let tasks = Tasks::new();
    let done = Arc::new(AtomicUsize::new(0));
    let (inner, count) = (tasks.clone(), done.clone());
    tasks.spawn("outer", async move {
        tokio::time::sleep(GRACE / 4).await;
        let inner_count = count.clone();
        inner.spawn("inner", async move {
            tokio::time::sleep(GRACE / 4).await;
            inner_count.fetch_add(1, Ordering::Relaxed);
        });
        count.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(tasks.finish(GRACE).await, 0);
    assert_eq!(done.load(Ordering::Relaxed), 2);
}

/// One that does not end is cut after the grace time and counted.
#[tokio::test(start_paused = true)]
async fn a_stuck_task_is_cut() {
    let tasks = Tasks::new();
    tasks.spawn("stuck", pending());
    tasks.spawn("quick", async {});
    assert_eq!(tasks.finish(GRACE).await, 1);
    assert_eq!(tasks.finish(GRACE).await, 0, "nothing is left");
}

/// A panic ends its own task and no other.
#[tokio::test(start_paused = true)]
async fn a_panic_stays_inside_its_task() {
    let tasks = Tasks::new();
    tasks.spawn("clumsy", async { panic!("on purpose") });
    let (tell, told) = tokio::sync::oneshot::channel();
    tasks.spawn("steady", async move {
        let _ = tell.send(());
    });
    told.await.unwrap();
    assert_eq!(tasks.finish(GRACE).await, 0);
}

/// A task that loops hears that it should end.
#[tokio::test(start_paused = true)]
async fn finishing_asks_tasks_to_stop() {
    let tasks = Tasks::new();
    tasks.spawn("loop", tasks.stopping());
    assert_eq!(tasks.finish(GRACE).await, 0);
}

/// Also one that came to wait after it was asked for, and one that outlived everybody who could.
#[tokio::test(start_paused = true)]
async fn an_end_is_heard_late_and_from_nobody() {
    let tasks = Tasks::new();
    tasks.finish(GRACE).await;
    tasks.stopping().await;
    let others = Tasks::new();
    let stopping = others.stopping();
    drop(others);
    stopping.await;
}

/// Whoever spawns it, also from a thread that belongs to no runtime.
#[test]
fn tasks_run_on_the_runtimes_they_were_made_for() {
    let [first, second] = ["first", "second"]
        .map(|name| tokio::runtime::Builder::new_multi_thread().thread_name(name).build().unwrap());
    let (told, name) = std::sync::mpsc::channel();
    let tell = || {
        let told = told.clone();
        async move {
            let _ = told.send(std::thread::current().name().map(str::to_owned));
        }
    };
    let tasks = Tasks::on(first.handle().clone(), Some(second.handle().clone()));
    tasks.spawn("named", tell());
    assert_eq!(name.recv().unwrap().as_deref(), Some("first"));
    tasks.spawn_behind("named", tell());
    assert_eq!(name.recv().unwrap().as_deref(), Some("second"));
    let alone = Tasks::on(first.handle().clone(), None);
    alone.spawn_behind("named", tell());
    assert_eq!(name.recv().unwrap().as_deref(), Some("first"), "nobody stands behind");
}
