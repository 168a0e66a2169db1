//! Cost of a rewrite, compared with SPIRV-Tools parsing and writing the same module without a pass.
//!
//! SPIRV-Tools does not support the new instructions, so its modules contain `OpUnreachable` instead. Compare ratios, not
//! times, across machines.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::ffi::c_int;
use std::hint::black_box;
use std::ptr::{self, NonNull};
use vkabort_instrument::{Options, instrument};
use vkabort_oracle::words::without_extensions;
use vkabort_tests::glsl::compile;
use vkabort_tests::large_shader::shader;

/// SPIRV-Tools' C interface, as its `libspirv.h` declares it.
mod spirv_tools {
    use std::ffi::{c_int, c_void};

    /// `spv_binary_t`.
    #[repr(C)]
    pub struct Binary {
        pub code: *mut u32,
        pub words: usize,
    }

    // SAFETY: the signatures match `libspirv.h` of the version that the build script links.
    unsafe extern "C" {
        pub fn spvOptimizerCreate(env: c_int) -> *mut c_void;
        pub fn spvOptimizerDestroy(optimizer: *mut c_void);
        pub fn spvOptimizerOptionsCreate() -> *mut c_void;
        pub fn spvOptimizerOptionsSetRunValidator(options: *mut c_void, run: bool);
        pub fn spvOptimizerOptionsDestroy(options: *mut c_void);
        pub fn spvOptimizerRun(
            optimizer: *mut c_void,
            words: *const u32,
            count: usize,
            optimized: *mut *mut Binary,
            options: *mut c_void,
        ) -> c_int;
        pub fn spvBinaryDestroy(binary: *mut Binary);
    }
}

/// `SPV_ENV_VULKAN_1_3`.
const VULKAN_1_3: c_int = 25;

/// Parses a module with SPIRV-Tools and writes it again, without a pass. With `validates`, the default of SPIRV-Tools'
/// optimizer, the module is validated first. Returns the number of words.
fn round_trip(words: &[u32], validates: bool) -> usize {
    let mut binary = ptr::null_mut();
    // SAFETY: each object is created here and destroyed once; pointer and length come from the same slice.
    unsafe {
        let optimizer = spirv_tools::spvOptimizerCreate(VULKAN_1_3);
        let options = spirv_tools::spvOptimizerOptionsCreate();
        spirv_tools::spvOptimizerOptionsSetRunValidator(options, validates);
        let result = spirv_tools::spvOptimizerRun(optimizer, words.as_ptr(), words.len(), &raw mut binary, options);
        spirv_tools::spvOptimizerOptionsDestroy(options);
        spirv_tools::spvOptimizerDestroy(optimizer);
        assert_eq!(result, 0, "the module is valid");
        let length = NonNull::new(binary)
            .expect("a module without passes is written again")
            .as_ref()
            .words;
        spirv_tools::spvBinaryDestroy(binary);
        length
    }
}

/// `OpCapability`.
const CAPABILITY: u16 = 17;

fn benchmarks(criterion: &mut Criterion) {
    scan(criterion);
    rewrite(criterion);
}

/// Modules without aborts, from small to large: the cost must not grow.
fn scan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan");
    for length in [100, 10_000, 1_000_000] {
        let mut words = vec![0x0723_0203, 0x0001_0500, 0, 8, 0];
        for capability in [1, 61, 5347] {
            words.extend([2 << 16 | u32::from(CAPABILITY), capability]);
        }
        words.extend([3 << 16 | 14, 0, 1]);
        words.resize(length, 1 << 16);
        group.bench_with_input(BenchmarkId::new("untouched", length), &words, |bencher, words| {
            bencher.iter(|| instrument(black_box(words), &Options::default()));
        });
    }
    group.finish();
}

/// The smallest modules, where fixed costs dominate, then modules from small to large.
fn rewrite(criterion: &mut Criterion) {
    for name in [
        "message/empty.comp",
        "abort/every_path.comp",
        "control_flow/do_while_condition.comp",
        "message/structures.comp",
    ] {
        rewrite_one(criterion, name, &compile(name).expect("the shader compiles"));
    }
    for (name, functions) in [("small", 1), ("medium", 20), ("large", 400)] {
        rewrite_one(criterion, name, &shader(functions).expect("the shader compiles"));
    }
}

fn rewrite_one(criterion: &mut Criterion, name: &str, words: &[u32]) {
    let mut group = criterion.benchmark_group(format!("rewrite {name}, {} words", words.len()));
    group.throughput(Throughput::Bytes(words.len() as u64 * 4));
    group.bench_function("vkabort", |bencher| {
        bencher.iter(|| instrument(black_box(words), &Options::default()).expect("the module is valid"));
    });
    let plain = without_extensions(words).expect("it is a module");
    for (name, validates) in [
        ("SPIRV-Tools, no pass", false),
        ("SPIRV-Tools, validation, no pass", true),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| round_trip(black_box(&plain), validates))
        });
    }
    group.finish();
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
