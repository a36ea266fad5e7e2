//! One request and its answer on an open line, within bounds.
//!
//! From the moment the head has come the call has its answer. The body is looked at for as long
//! as it stays small; if it is cut, drips until the deadline or never ends, what came until then
//! is kept and the line is not used again.

use std::error::Error;
use std::io;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::{Request, StatusCode};

use super::course::{Answer, Course, Failure, Why};
use super::line::{Line, Lost};
use super::{limits, tls};

/// A call that got no head.
pub(super) struct Stumble {
    pub(super) failure: Failure,
    /// The line ended and not one byte came back: as if the other side had hung up before.
    pub(super) unheard: bool,
}

/// Puts the answer into `course`, with so many bytes of its body. Says whether the line can be used again.
pub(super) async fn exchange(
    line: &mut Line,
    request: Request<Full<Bytes>>,
    keeps: usize,
    course: &mut Course<'_>,
) -> Result<bool, Stumble> {
    course.begin_waiting(line.meter.clone());
    line.meter.reset(limits::PREAMBLE_BYTES_MAX);
    let (head, body) = match line.ask(request).await {
        Ok(answer) => answer.into_parts(),
        Err(lost) => return Err(stumble(line, &lost)),
    };
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        let message = "the destination changed to another protocol, unasked";
        let failure = Failure::new(Why::BadAnswer, message);
        return Err(Stumble { failure, unheard: false });
    }
    line.meter.lift();
    let answer = Answer { status: head.status.as_u16(), headers: head.headers, body: Vec::new() };
    let kept = &mut course.answered(answer).body;
    Ok(read(line, body, keeps, kept).await && line.is_good().await)
}

/// Reads the body, keeps its beginning, and says whether its end was seen.
async fn read(line: &mut Line, mut body: Incoming, keeps: usize, kept: &mut Vec<u8>) -> bool {
    // Whose end we will not see anyway need not be read further than what is kept.
    let most = limits::BODY_BYTES_READ.max(keeps);
    let read_max = match body.size_hint().lower() {
        announced if announced > most as u64 => keeps,
        _ => most,
    };
    let mut read = 0;
    while let Some(frame) = line.more(&mut body).await {
        let Ok(frame) = frame else { return false };
        let Some(data) = frame.data_ref() else { continue };
        let room = keeps - kept.len();
        kept.extend_from_slice(&data[..room.min(data.len())]);
        read += data.len();
        if read >= read_max {
            return body.is_end_stream();
        }
    }
    true
}

fn stumble(line: &Line, lost: &Lost) -> Stumble {
    let heard = line.meter.has_read();
    let failure = match lost {
        _ if line.meter.is_over() => Failure::new(Why::BadAnswer, "the answer's head never ends"),
        Lost::Http(error) if error.is_parse_too_large() => {
            Failure::new(Why::BadAnswer, "the answer has too many or too large headers")
        }
        Lost::Http(error) if error.is_parse() => {
            Failure::new(Why::BadAnswer, "what came back is not an answer in HTTP/1.1")
        }
        Lost::Http(error) => broken(error, heard),
        Lost::Gone => closed(heard),
    };
    let unheard = !heard && failure.why == Why::Broken;
    Stumble { failure, unheard }
}

fn broken(error: &hyper::Error, heard: bool) -> Failure {
    let Some(error) = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) else {
        return closed(heard);
    };
    match tls::inner(error) {
        Some(error) => tls::failure(error),
        None if error.kind() == io::ErrorKind::ConnectionReset => {
            Failure::new(Why::Broken, "the destination reset the connection")
        }
        None => closed(heard),
    }
}

fn closed(heard: bool) -> Failure {
    let message = if heard {
        "the destination closed the connection in the middle of its answer"
    } else {
        "the destination closed the connection without an answer"
    };
    Failure::new(Why::Broken, message)
}
