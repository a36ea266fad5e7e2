//! A route: an address, what is done there, and who may.
//!
//! A route cannot be written down without saying who may call it, and its description comes from
//! the handler's own signature.

use std::fmt;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use ferryhook_core::member::Role;

use crate::call::Describes;
use crate::openapi::Sketch;
use crate::router::App;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Public,
    /// A person who has signed in. Never a key: what concerns only the person is theirs to do.
    Person,
    /// Whoever has at least this role in the account that the request is about. The scope of a
    /// key counts as a role.
    Role(Role),
}

/// Whether a route is about events themselves, in the number in which they come. The API's pace is
/// not for those, and answers to them are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traffic {
    None,
    /// Takes events in, as the door does: the plan sets the pace, and the ledger recognises what is
    /// repeated.
    In,
    /// Hands them out, or hears what became of them. A lease that is repeated is another one, and a
    /// reply has the token of its lease.
    Out,
}

#[derive(Clone)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    /// The name by which permissions and clients know it, such as `sources.create`.
    pub operation: &'static str,
    pub access: Access,
    pub summary: &'static str,
    pub(crate) traffic: Traffic,
    pub(crate) describe: fn(&mut Sketch),
    pub(crate) handler: MethodRouter<App>,
}

impl Route {
    pub(crate) fn at_the_door(self) -> Self {
        Self { traffic: Traffic::In, ..self }
    }

    pub(crate) fn handing_out(self) -> Self {
        Self { traffic: Traffic::Out, ..self }
    }

    /// Whether it is there to change something.
    pub fn is_mutating(&self) -> bool {
        self.method != Method::GET
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.method, self.path, self.operation)
    }
}

/// A handler whose signature describes it.
pub trait Described<Arguments> {
    fn describe(sketch: &mut Sketch);
}

macro_rules! described {
    ($($argument:ident),+) => {
        impl<F, Answering, Answer, Marker, $($argument),+> Described<(Marker, $($argument,)+)> for F
        where
            F: Fn($($argument),+) -> Answering,
            Answering: Future<Output = Answer>,
            Answer: Describes,
            $($argument: Describes),+
        {
            fn describe(sketch: &mut Sketch) {
                $($argument::describe(sketch);)+
                Answer::describe(sketch);
            }
        }
    };
}

described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);
described!(A, B, C, D, E);
described!(A, B, C, D, E, G);

macro_rules! verb {
    ($name:ident, $method:ident) => {
        pub fn $name<H, A>(
            path: &'static str,
            operation: &'static str,
            access: Access,
            summary: &'static str,
            handler: H,
        ) -> Route
        where
            H: Handler<A, App> + Described<A>,
            A: 'static,
        {
            Route {
                method: Method::$method,
                path,
                operation,
                access,
                summary,
                traffic: Traffic::None,
                describe: H::describe,
                handler: on(MethodFilter::$method, handler),
            }
        }
    };
}

verb!(get, GET);
verb!(post, POST);
verb!(put, PUT);
verb!(patch, PATCH);
verb!(delete, DELETE);

/// Who may do what, as a table for people. Made of the routes, so that it is true.
pub fn access_table(routes: &[Route]) -> String {
    let mut table = String::from(
        "# Who may do what\n\n\
         Made from the table of routes. A member's permissions can make exceptions to their role, \
         and a key can be bound to some operations. *Person* means somebody who has signed in, \
         about themselves; *anyone* needs no proof.\n\n\
         | operation | request | viewer, key `read` | member, key `write` | manager | \
         admin, key `admin` |\n|---|---|---|---|---|---|\n",
    );
    for route in routes {
        let marks = match route.access {
            Access::Public => "anyone | anyone | anyone | anyone".to_owned(),
            Access::Person => "person | person | person | person".to_owned(),
            Access::Role(needed) => [Role::Viewer, Role::Member, Role::Manager, Role::Admin]
                .map(|role| if role >= needed { "yes" } else { "–" })
                .join(" | "),
        };
        let Route { method, path, operation, .. } = route;
        table.push_str(&format!("| `{operation}` | `{method} {path}` | {marks} |\n"));
    }
    table
}
