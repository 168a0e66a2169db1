//! What a rewrite costs, against SPIRV-Tools reading and writing the same module with no pass in between.
//!
//! SPIRV-Tools cannot read the new instructions, so its modules have `OpUnreachable` in their place. Ratios of one run mean
//! something; times of different machines do not.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use spirv_tools::TargetEnv;
use spirv_tools::opt::{self, Optimizer};
use std::hint::black_box;
use vkabort_instrument::{Options, instrument};
use vkabort_tests::large::shader;

const CAPABILITY: u16 = 17;
const EXTENSION: u16 = 10;
const UNDEF: u16 = 1;
const DECORATE: u16 = 71;
const UNREACHABLE: u16 = 255;
const ABORT: u16 = 5121;
const CONSTANT_DATA: [u16; 2] = [5147, 5148];
const UTF_ENCODED: u32 = 5145;
const LOWERED: [u32; 2] = [5120, 5146];

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

fn rewrite(criterion: &mut Criterion) {
    for (name, functions) in [("small", 1), ("medium", 20), ("large", 400)] {
        let words = shader(functions).expect("the shader compiles");
        let mut group = criterion.benchmark_group(format!("rewrite {name}, {} words", words.len()));
        group.throughput(Throughput::Bytes(words.len() as u64 * 4));
        group.bench_function("vkabort", |bencher| {
            bencher.iter(|| instrument(black_box(&words), &Options::default()).expect("the module is valid"));
        });
        let plain = without_aborts(&words);
        group.bench_function("SPIRV-Tools, no pass", |bencher| {
            bencher.iter(|| {
                let optimizer = opt::create(Some(TargetEnv::Vulkan_1_2));
                let mut ignore = |_: spirv_tools::error::Message| ();
                optimizer
                    .optimize(black_box(&plain), &mut ignore, None)
                    .expect("the module is valid")
            });
        });
        group.finish();
    }
}

/// The module in instructions that SPIRV-Tools knows.
fn without_aborts(words: &[u32]) -> Vec<u32> {
    let (header, mut rest) = words.split_at(5);
    let mut plain = header.to_vec();
    while let Some(first) = rest.first() {
        let (inst, tail) = rest.split_at((first >> 16) as usize);
        rest = tail;
        match *first as u16 {
            CAPABILITY if LOWERED.contains(&inst[1]) => {}
            EXTENSION if inst.len() > 3 && is_lowered(inst) => {}
            DECORATE if inst[2] == UTF_ENCODED => {}
            ABORT => plain.push(1 << 16 | u32::from(UNREACHABLE)),
            opcode if CONSTANT_DATA.contains(&opcode) => plain.extend([3 << 16 | u32::from(UNDEF), inst[1], inst[2]]),
            _ => plain.extend_from_slice(inst),
        }
    }
    plain
}

fn is_lowered(extension: &[u32]) -> bool {
    let bytes: Vec<u8> = extension[1..].iter().flat_map(|w| w.to_le_bytes()).collect();
    bytes.starts_with(b"SPV_KHR_abort\0") || bytes.starts_with(b"SPV_KHR_constant_data\0")
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
