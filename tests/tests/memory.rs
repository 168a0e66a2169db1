//! Peak memory of a rewrite.
#![allow(clippy::print_stdout, reason = "it prints the measurement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use vkabort_instrument::{Options, Outcome, instrument};
use vkabort_tests::large_shader::shader;

/// The system allocator, with counters of allocated bytes.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller meets the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller meets the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        grown(size);
        // SAFETY: the caller meets the same contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Peak bytes of a rewrite, including its result, and the bytes of the result.
fn measure(words: &[u32]) -> (usize, usize) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let outcome = instrument(words, &Options::default());
    let most = MOST.load(Ordering::Relaxed) - before;
    match outcome {
        Ok(Outcome::Instrumented(out)) => (most, out.words.len() * 4),
        other => panic!("not rewritten: {other:?}"),
    }
}

#[test]
fn a_rewrite_needs_at_most_four_times_its_module() {
    let words = shader(300).expect("the shader compiles");
    let bytes = words.len() * 4;
    let (most, result) = measure(&words);
    println!(
        "{bytes} bytes, rewritten to {result}, peak {most}: {:.2} times",
        most as f64 / bytes as f64
    );
    assert!(bytes > 400_000, "the module has only {bytes} bytes");
    assert!(most <= 4 * bytes, "{most} bytes for a module of {bytes}");
}
