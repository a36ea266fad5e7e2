//! Reads a body by hand: never more than allowed, never for longer than allowed.
//!
//! The length a sender declares is judged before the first byte is asked for, which is also what
//! keeps `100 Continue` from being said to someone whose body is not wanted.

use std::pin::pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;

use super::limits;
use super::refusal::Refusal;
use super::room::Room;

pub(super) struct Bounds<'a> {
    pub(super) bytes_max: usize,
    /// For all of it.
    pub(super) within: Duration,
    /// Shared by all bodies that come in pieces.
    pub(super) room: &'a Room,
}

pub(super) async fn read<B: Body<Data = Bytes>>(
    body: B,
    bounds: Bounds<'_>,
) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > bounds.bytes_max as u64 {
        return Err(Refusal::TooLarge { bytes_max: bounds.bytes_max, beginning: Bytes::new() });
    }
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let within = bounds.within;
    tokio::time::timeout(within, gather(body, bounds)).await.unwrap_or(Err(Refusal::TooSlow))
}

async fn gather<B: Body<Data = Bytes>>(body: B, bounds: Bounds<'_>) -> Result<Bytes, Refusal> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    let mut place = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::BrokenOff)?;
        // Trailers are dropped: nothing that was verified may come from them.
        let Ok(data) = frame.into_data() else { continue };
        let so_far = first.len().max(all.len());
        if so_far + data.len() > bounds.bytes_max {
            let beginning = if all.is_empty() { first } else { all.freeze() };
            let beginning = beginning.slice(..beginning.len().min(limits::BEGINNING_BYTES_KEPT));
            return Err(Refusal::TooLarge { bytes_max: bounds.bytes_max, beginning });
        }
        if so_far == 0 {
            first = data;
        } else {
            let place = match &mut place {
                Some(place) => place,
                None => place.insert(bounds.room.enter(so_far).ok_or(Refusal::Crowded)?),
            };
            if !place.grow(data.len()) {
                return Err(Refusal::Crowded);
            }
            if all.is_empty() {
                // No more than it may hold, whatever was declared.
                all.reserve((so_far + data.len()).max(declared.min(2 * so_far)));
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(match all.is_empty() {
        false => all.freeze(),
        true if first.len() <= limits::COPIED_BYTES_MAX => Bytes::copy_from_slice(&first),
        true => first,
    })
}
