//! One runtime with one context, for one event.

use rquickjs::context::Intrinsic;
use rquickjs::context::intrinsic::{
    Date, Eval, Json, MapSet, None as Nothing, Promise as Promises, RegExp, RegExpCompiler,
    TypedArrays,
};
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Runtime, Value};

use super::bytecode::{self, Bytecode, Kept, evaluate};
use super::heap::Heap;
use super::host::{self, Console};
use super::pieces::Needs;
use super::request::{Dialect, Given};
use super::thrown::{self, fault};
use super::watch::Watch;
use super::{FILE, NO_HANDLER, Script, reply};
use crate::Event;
use crate::transform::error::BadTransform;
use crate::transform::{Fault, Outcome, limits};

/// Reads a script of a user.
pub(super) fn compile(source: &str) -> Result<Bytecode, BadTransform> {
    compile_as(FILE, source, Kept::Lines).map_err(|(message, position)| BadTransform {
        pointer: "/code".to_owned(),
        position,
        message,
    })
}

/// Reads a piece of the sandbox itself.
pub(super) fn compile_own(source: &str) -> Result<Bytecode, BadTransform> {
    compile_as("ferryhook", source, Kept::Nothing)
        .map_err(|(message, _)| BadTransform::new("/code", format!("the sandbox: {message}")))
}

type Refusal = (String, Option<(u32, u32)>);

fn compile_as(file: &str, source: &str, kept: Kept) -> Result<Bytecode, Refusal> {
    let unavailable = |error: rquickjs::Error| (error.to_string(), None);
    let runtime = Runtime::new().map_err(unavailable)?;
    runtime.set_memory_limit(limits::COMPILE_HEAP_BYTES);
    runtime.set_max_stack_size(limits::SCRIPT_STACK_BYTES);
    let context =
        Context::custom::<(Eval, RegExpCompiler, RegExp)>(&runtime).map_err(unavailable)?;
    context.with(|ctx| {
        bytecode::compile(&ctx, file, source, kept)
            .catch(&ctx)
            .map_err(|error| thrown::refusal(&error))
    })
}

pub(super) struct Engine {
    runtime: Runtime,
}

impl Engine {
    pub(super) fn new(given: &Given<'_>, watch: &Watch) -> Result<Self, Fault> {
        let runtime =
            Runtime::new_with_alloc(Heap::new(watch.clone())).map_err(|_| Fault::Memory)?;
        let heap = given.bytes().saturating_mul(limits::SCRIPT_HEAP_PER_BODY_BYTE);
        let heap = limits::SCRIPT_HEAP_BYTES.saturating_add(heap);
        let heap = heap.min(limits::SCRIPT_HEAP_BYTES_MAX);
        runtime.set_memory_limit(heap);
        // Most runs are over before there is anything to collect.
        runtime.set_gc_threshold(heap / 2);
        runtime.set_max_stack_size(limits::SCRIPT_STACK_BYTES);
        let watch = watch.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || watch.is_over())));
        Ok(Self { runtime })
    }

    pub(super) fn run(
        &self,
        script: &Script,
        event: &Event,
        given: &Given<'_>,
        watch: &Watch,
        console: &Console,
    ) -> Result<Outcome, Fault> {
        let context = context(&self.runtime, script.needs).map_err(|_| Fault::Memory)?;
        context.with(|ctx| {
            let failed = |error: rquickjs::Error| fault(&ctx, error, watch);
            let prepared = prepare(&ctx, script, event, watch, console).map_err(failed)?;
            evaluate(&ctx, &script.code).map_err(failed)?;
            let (dialect, handler) = pick(&ctx, script, &prepared)
                .map_err(failed)?
                .ok_or_else(|| Fault::Shape(NO_HANDLER.to_owned()))?;
            let request = given.request(&ctx, dialect, event).map_err(failed)?;
            let called = request.call(&handler).map_err(failed)?;
            let returned = settled(&ctx, called, watch)?.map_err(failed)?;
            reply::outcome(&ctx, dialect, &returned, &request, given, event)
                .map_err(|error| match error {
                    reply::Refused::Failed(error) => failed(error),
                    reply::Refused::Fault(fault) => fault,
                })
                // What a getter did with the last of the time is not to be trusted either.
                .and_then(|outcome| match watch.was_over() {
                    true => Err(Fault::Time(watch.allowed())),
                    false => Ok(outcome),
                })
        })
    }
}

/// With what the script needs, and without a parser. Each level adds one more choice.
fn context(runtime: &Runtime, needs: Needs) -> rquickjs::Result<Context> {
    match (needs.json, needs.regexps) {
        (true, true) => with_base::<(Json, RegExpCompiler, RegExp)>(runtime, needs),
        (true, false) => with_base::<(Json,)>(runtime, needs),
        (false, true) => with_base::<(RegExpCompiler, RegExp)>(runtime, needs),
        (false, false) => with_base::<Nothing>(runtime, needs),
    }
}

fn with_base<B: Intrinsic>(runtime: &Runtime, needs: Needs) -> rquickjs::Result<Context> {
    match (needs.maps, needs.promises) {
        (true, true) => with_more::<(B, MapSet, Promises)>(runtime, needs),
        (true, false) => with_more::<(B, MapSet)>(runtime, needs),
        (false, true) => with_more::<(B, Promises)>(runtime, needs),
        (false, false) => with_more::<B>(runtime, needs),
    }
}

fn with_more<B: Intrinsic>(runtime: &Runtime, needs: Needs) -> rquickjs::Result<Context> {
    match (needs.typed_arrays, needs.dates) {
        (true, true) => Context::custom::<(B, TypedArrays, Date)>(runtime),
        (true, false) => Context::custom::<(B, TypedArrays)>(runtime),
        (false, true) => Context::custom::<(B, Date)>(runtime),
        (false, false) => Context::custom::<B>(runtime),
    }
}

/// Puts everything in its place; the result knows the handler that `addHandler` was given.
fn prepare<'js>(
    ctx: &Ctx<'js>,
    script: &Script,
    event: &Event,
    watch: &Watch,
    console: &Console,
) -> rquickjs::Result<Function<'js>> {
    let watch = watch.clone();
    let tick = Function::new(ctx.clone(), move |ctx: Ctx<'js>| match watch.is_over() {
        // Whoever catches this comes to the next instruction that looks, and no further.
        true => Err(rquickjs::Exception::throw_internal(&ctx, "interrupted")),
        false => Ok(()),
    })?;
    let host = host::object(ctx, script.needs, event, console)?;
    evaluate(ctx, &script.prelude)?.get::<Function<'js>>()?.call((tick, host))
}

/// The handler, by the dialect it is written in. The more deliberate one counts.
fn pick<'js>(
    ctx: &Ctx<'js>,
    script: &Script,
    kept: &Function<'js>,
) -> rquickjs::Result<Option<(Dialect, Function<'js>)>> {
    let added: Value<'js> = kept.call(())?;
    if let Some(function) = added.into_function() {
        return Ok(Some((Dialect::Request, function)));
    }
    let named = evaluate(ctx, &script.pick)?.get::<Object<'js>>()?;
    for (place, dialect) in [(0, Dialect::Webhook), (1, Dialect::Payload)] {
        if let Some(function) = named.get::<_, Value<'js>>(place)?.into_function() {
            return Ok(Some((dialect, function)));
        }
    }
    Ok(None)
}

/// What a promise came to. Nothing here can be waited for but other promises.
fn settled<'js>(
    ctx: &Ctx<'js>,
    returned: Value<'js>,
    watch: &Watch,
) -> Result<rquickjs::Result<Value<'js>>, Fault> {
    let Some(promise) = returned.as_promise().cloned() else { return Ok(Ok(returned)) };
    let mut jobs = 0;
    while promise.state() == PromiseState::Pending && ctx.execute_pending_job() {
        jobs += 1;
        if watch.is_over() {
            return Err(Fault::Time(watch.allowed()));
        }
        if jobs > limits::JOBS_MAX {
            return Err(Fault::TooMuch(format!(
                "more than {} steps of promises",
                limits::JOBS_MAX
            )));
        }
    }
    match promise.result::<Value<'js>>() {
        Some(result) => Ok(result),
        None if watch.is_over() => Err(Fault::Time(watch.allowed())),
        None => Err(Fault::Shape(
            "the script returned a promise that never settles: there is nothing here to wait for"
                .to_owned(),
        )),
    }
}
