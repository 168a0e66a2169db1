//! What a rewrite costs, against SPIRV-Tools reading and writing the same module with no pass in between.
//!
//! SPIRV-Tools cannot read the new instructions, so its modules have `OpUnreachable` in their place. Ratios of one run mean
//! something; times of different machines do not.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use spirv_tools::TargetEnv;
use spirv_tools::opt::{self, Optimizer};
use std::hint::black_box;
use vkabort_instrument::{Options, instrument};
use vkabort_oracle::words::without_extensions;
use vkabort_tests::glsl::compile;
use vkabort_tests::large::shader;

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

/// The smallest modules, where what is done once weighs most, then modules from small to large.
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
    group.bench_function("SPIRV-Tools, no pass", |bencher| {
        bencher.iter(|| {
            let optimizer = opt::create(Some(TargetEnv::Vulkan_1_3));
            let mut ignore = |_: spirv_tools::error::Message| ();
            optimizer
                .optimize(black_box(&plain), &mut ignore, None)
                .expect("the module is valid")
        });
    });
    group.finish();
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
