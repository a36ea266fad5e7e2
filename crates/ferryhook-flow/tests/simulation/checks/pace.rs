//! Pace: never more attempts in a time than the connection's rate allows.

use std::time::Duration;

use ferryhook_flow::limits;

use crate::story::When;
use crate::world::World;

/// How many attempts in a row are looked at together.
const LOOK_BACK: usize = 12;

pub(crate) fn check(world: &World) {
    let mut broken = Vec::new();
    for (way, of) in world.cast.ways.iter().enumerate() {
        let Some(rate) = of.connection.rate_per_second_max else { continue };
        let told = world.story.told();
        let sent = told.attempts.iter().filter(|attempt| attempt.connection == way);
        let sent: Vec<When> = sent.map(|attempt| attempt.sent).collect();
        for (place, last) in sent.iter().enumerate() {
            for back in 1..=place.min(LOOK_BACK) {
                let first = sent[place - back];
                // A new life does not know how fast the last one was.
                let began = |life: &When| first < *life && *life < *last;
                let enough = (Duration::from_secs(1) / rate) * back as u32;
                let enough = enough.saturating_sub(limits::PACE_GRAIN);
                let too_fast = last.at - first.at < enough && !told.lives.iter().any(began);
                broken.extend(too_fast.then_some((way, first.line, last.line, back)));
            }
        }
    }
    broken.truncate(3);
    for (way, first, last, back) in broken {
        let what = format!("connection {way}: {back} attempts after line {first} by line {last}");
        world.story.violate(format_args!("{what} are too many"));
    }
}
