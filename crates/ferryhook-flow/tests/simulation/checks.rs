//! What must be true of every run, whatever happened in it.

mod deliveries;
mod order;
mod pace;
mod retries;

use crate::story::Told;
use crate::world::World;

pub(crate) async fn all(world: &World) {
    deliveries::check(world).await;
    retries::check(world);
    order::check(world);
    pace::check(world);
    for (way, line) in pauses(world) {
        world.story.violate(format_args!("line {line}: connection {way} is paused"));
    }
}

/// Nothing is sent over a connection that the program knows to be paused.
fn pauses(world: &World) -> Vec<(usize, usize)> {
    let Told { pauses, attempts, .. } = &*world.story.told();
    let mut broken = Vec::new();
    for pause in pauses {
        let sent = attempts.iter().find(|attempt| {
            let until = pause.to.is_none_or(|to| attempt.sent < to);
            attempt.connection == pause.connection && attempt.sent > pause.from && until
        });
        broken.extend(sent.map(|sent| (pause.connection, sent.sent.line)));
    }
    broken
}
