//! The floor: the same bytes appended to one file, one sync for all that wait.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::load;

pub(super) async fn run(
    directory: &Path,
    bytes: u64,
    events: u64,
    producers: usize,
    preallocate: bool,
) -> f64 {
    let path = directory.join("floor.log");
    let file = File::create(&path).unwrap();
    if preallocate {
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes * events)
            .unwrap();
    }
    let (sender, mut receiver) = mpsc::channel::<(Vec<u8>, oneshot::Sender<()>)>(4096);
    let writer = std::thread::spawn(move || {
        let mut end = 0;
        while let Some(first) = receiver.blocking_recv() {
            let (mut buffer, mut waiting) = (first.0, vec![first.1]);
            while let Ok((more, done)) = receiver.try_recv() {
                buffer.extend_from_slice(&more);
                waiting.push(done);
            }
            file.write_all_at(&buffer, end).unwrap();
            end += buffer.len() as u64;
            file.sync_data().unwrap();
            for done in waiting {
                let _ = done.send(());
            }
        }
    });
    let sender = Arc::new(sender);
    let started = Instant::now();
    load::spread(producers, events, {
        let sender = sender.clone();
        move |_| {
            let sender = sender.clone();
            async move {
                let (done, answer) = oneshot::channel();
                sender.send((vec![7; bytes as usize], done)).await.unwrap();
                answer.await.unwrap();
            }
        }
    })
    .await;
    let rate = events as f64 / started.elapsed().as_secs_f64();
    drop(sender);
    writer.join().unwrap();
    std::fs::remove_file(path).unwrap();
    rate
}
