//! The heap of a run, which also looks at the clock.
//!
//! The engine looks once in ten thousand instructions, and one of those may copy a whole object
//! (`{...all}`). Whatever copies asks for memory, so this looks as well, each time that so much
//! was asked for, and refuses once the time is over.

use std::ptr;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::watch::Watch;

/// Asked for between two looks; one request counts as this much more than it has bytes.
const CHUNK: usize = 1 << 20;
const REQUEST: usize = 64;
/// What is always handed out: the engine needs an error to throw, or a script could go on.
const SMALL: usize = 1024;

pub(super) struct Heap {
    watch: Watch,
    left: usize,
}

impl Heap {
    pub(super) fn new(watch: Watch) -> Self {
        Self { watch, left: CHUNK }
    }

    fn refuses(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes.saturating_add(REQUEST)) {
            Some(left) => self.left = left,
            None => {
                self.left = CHUNK;
                self.watch.is_over();
            }
        }
        bytes > SMALL && self.watch.was_over()
    }
}

// SAFETY: every pointer comes from `RustAllocator`, which keeps the promises of the trait, or is
// null, which is one of them; and each goes back to where it came from.
#[expect(unsafe_code, reason = "an allocator is unsafe to write, even one that only counts")]
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match self.refuses(size) {
            true => ptr::null_mut(),
            false => RustAllocator.alloc(size),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match self.refuses(count.saturating_mul(size)) {
            true => ptr::null_mut(),
            false => RustAllocator.calloc(count, size),
        }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { RustAllocator.dealloc(ptr) }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        match self.refuses(new_size) {
            true => ptr::null_mut(),
            // SAFETY: as the caller promises.
            false => unsafe { RustAllocator.realloc(ptr, new_size) },
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: as the caller promises.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}
