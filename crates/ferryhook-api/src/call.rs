//! A call: what a handler is given of a request, and what it may answer.
//!
//! Each of these types also says what it means in the language of OpenAPI ([`Describes`]). The
//! document is made from the signatures of the handlers, so it cannot promise what none of them
//! takes or gives.

mod answers;
mod condition;
mod parameters;
mod sent;
mod streamed;

use axum::extract::State;

use crate::openapi::Sketch;
use crate::problem::Problem;
use crate::router::App;

pub(crate) use answers::NextCursor;
pub use answers::{Accepted, Created, Done, Found, Listed, Raw, Redirect, Tagged};
pub(crate) use condition::has;
pub use condition::{Condition, ETag};
pub use parameters::{Asked, In, PathPart};
pub use sent::{MaybeSent, Sent};
pub(crate) use sent::{parse, read, read_up_to, require_json};
pub use streamed::{Message, Streamed};

pub type ApiResult<T> = Result<T, Problem>;

/// A part of a handler's signature, which adds what it knows to the description of its operation.
pub trait Describes {
    fn describe(sketch: &mut Sketch);
}

impl Describes for State<App> {
    fn describe(_: &mut Sketch) {}
}

/// Every operation can fail; how is said once, beside its route.
impl<T: Describes> Describes for ApiResult<T> {
    fn describe(sketch: &mut Sketch) {
        T::describe(sketch);
    }
}
