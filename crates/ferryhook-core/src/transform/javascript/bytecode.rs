//! Bytecode: a script that was read once and is run often.
//!
//! The engine's safe interface can keep modules only, and those are always strict, which scripts
//! that people bring along are not. What is unsafe in the project is in this file and in `heap`.

use std::ffi::CString;
use std::fmt;

use rquickjs::{Ctx, Error, Value, qjs};

/// Made by [`compile`] only, and never stored: the engine trusts what it reads here.
pub(super) struct Bytecode(Vec<u8>);

impl fmt::Debug for Bytecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytecode({} bytes)", self.0.len())
    }
}

/// What is kept beside the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// The lines they stand on.
    Lines,
    Nothing,
}

/// Reads a script without running it. Needs a context that has a parser.
#[expect(unsafe_code, reason = "the safe interface compiles modules only")]
pub(super) fn compile(
    ctx: &Ctx<'_>,
    file: &str,
    source: &str,
    kept: Kept,
) -> rquickjs::Result<Bytecode> {
    let (file, source) = (CString::new(file)?, CString::new(source)?);
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let stripped = match kept {
        Kept::Lines => qjs::JS_WRITE_OBJ_STRIP_SOURCE,
        Kept::Nothing => qjs::JS_WRITE_OBJ_STRIP_SOURCE | qjs::JS_WRITE_OBJ_STRIP_DEBUG,
    };
    // SAFETY: the context is alive as long as `ctx`, and entered, since only `Context::with` hands
    // one out. Both texts end with NUL, which the length does not count, and outlive the calls.
    // Each value that the engine returns is freed once, and its buffer is copied before that.
    unsafe {
        let ctx = ctx.as_raw().as_ptr();
        let length = source.as_bytes().len() as qjs::size_t;
        let compiled = qjs::JS_Eval(ctx, source.as_ptr(), length, file.as_ptr(), flags as i32);
        if qjs::JS_IsException(compiled) {
            return Err(Error::Exception);
        }
        let mut size: qjs::size_t = 0;
        let flags = (qjs::JS_WRITE_OBJ_BYTECODE | stripped) as i32;
        let buffer = qjs::JS_WriteObject(ctx, &raw mut size, compiled, flags);
        qjs::JS_FreeValue(ctx, compiled);
        if buffer.is_null() {
            return Err(Error::Exception);
        }
        let bytes = std::slice::from_raw_parts(buffer, size as usize).to_vec();
        qjs::js_free(ctx, buffer.cast());
        Ok(Bytecode(bytes))
    }
}

/// Runs a script as it was compiled; what its last expression was comes back.
#[expect(unsafe_code, reason = "the safe interface runs the bytecode of modules only")]
pub(super) fn evaluate<'js>(ctx: &Ctx<'js>, code: &Bytecode) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the bytes were written by the same engine in this process, by `compile`, and nobody
    // can have changed them. The context is alive and entered, as above. Reading copies what it
    // needs of them. `JS_EvalFunction` takes the function it is given, also when it fails; its
    // result is ours, and `from_raw` takes it over.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
        let length = code.0.len() as qjs::size_t;
        let function = qjs::JS_ReadObject(raw, code.0.as_ptr(), length, flags);
        if qjs::JS_IsException(function) {
            return Err(Error::Exception);
        }
        let result = qjs::JS_EvalFunction(raw, function);
        if qjs::JS_IsException(result) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), result))
    }
}
