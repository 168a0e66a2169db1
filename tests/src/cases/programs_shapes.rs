//! Random sound programs of the shapes that small tests do not have, also optimised by `spirv-opt -O`: under each set of checks they have
//! equal results and no report, and compile in a time that is bounded by that of the plain module.
//!
//! Each driver runs its share. `VKABORT_PROGRAM_SEEDS=2000` runs more programs of each shape, `VKABORT_PROGRAM_SEED=17` a single one, and
//! `VKABORT_PROGRAM_CHECKS=races` a single set of checks. `VKABORT_SECONDS=7000` gives each case the time for many.

use super::deliver::Received;
use super::programs::seeds;
use super::settings::text;
use super::support::{expect_success, same_words};
use crate::case::{Case, Context, cases, is_over};
use crate::processor_time::processor_time;
use crate::program::shape::shape_program;
use crate::program::{Language, is_valid};
use crate::shader_cache::optimized;
use crate::slang::Slang;
use crate::vk::{Buffer, Chained, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Kernel};
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use std::ffi::CString;
use std::time::{Duration, Instant};
use vkabort_oracle::check::interpret_shape;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Shape, ShapeInputs, generate_shape};
use vkabort_oracle::seeds::is_quarter;

/// Caches would hide the compile time of a module, and the compiler's faults.
const UNCACHED: &[(&str, &str)] = &[("MESA_SHADER_CACHE_DISABLE", "true")];

pub(super) const CASES: &[Case] = cases! {
    "programs_shapes::straight" => programs(context, Shape::Straight), in_own_process(), alone(), within(600), with(UNCACHED);
    "programs_shapes::one_address" => programs(context, Shape::OneAddress),
        in_own_process(), alone(), within(600), with(UNCACHED);
    "programs_shapes::divergent_loops" => programs(context, Shape::DivergentLoops),
        in_own_process(), alone(), within(600), with(UNCACHED);
    "programs_shapes::callees" => programs(context, Shape::Callees), in_own_process(), alone(), within(600), with(UNCACHED);
    "programs_shapes::returned_pointers" => programs(context, Shape::ReturnedPointers),
        in_own_process(), alone(), within(600), with(UNCACHED);
};

/// Number of programs of each shape, over all drivers.
const PROGRAMS: u64 = 3;

/// The sets of checks.
const SETS: [&str; 6] = [
    "default",
    "initialized",
    "addresses,initialized,races,barriers",
    "races",
    "invalid",
    "all",
];

/// A checked module may take this much processor time, or so many times that of the plain module. Far above what any program takes, and
/// far below what it takes if the checks compile without end.
const MOST_TIME: Duration = Duration::from_secs(5);
const MOST_TIMES: u32 = 60;

/// Address of the nodes in the interpreter.
const INTERPRETED: u64 = 0x7f00_0000_0000;

/// Source of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Text(Language),
    /// A generated module.
    Module,
}

/// A program to run.
struct Program {
    words: Vec<u32>,
    entry: CString,
    invocations: u32,
    has_addresses: bool,
    /// Its source, for messages.
    text: String,
}

/// Memory that a run leaves.
struct Ran {
    out: Vec<u32>,
    nodes: Vec<u32>,
    /// Processor time from the creation of the pipeline to the end of its first run: some drivers compile at the first.
    time: Duration,
    reports: Vec<String>,
}

fn programs(context: &Context, shape: Shape) -> Result<()> {
    let one = std::env::var("VKABORT_PROGRAM_CHECKS").ok();
    let sets: Vec<&str> = match &one {
        Some(set) => vec![set],
        // The first has the cheapest checks, the last all of them.
        None if is_quarter() => [SETS.first(), SETS.last()].into_iter().flatten().copied().collect(),
        None => SETS.to_vec(),
    };
    let received = Received::default();
    let open = |set: Option<&str>| open(context, &received, set);
    let plain = open(None)?;
    let checked: Vec<Gpu> = sets.iter().map(|set| open(Some(set))).collect::<Result<_>>()?;
    let plain = device(&plain)?;
    let checked: Vec<Device<'_>> = checked.iter().map(device).collect::<Result<_>>()?;
    let slang = Slang::find().ok();
    let start = Instant::now();
    let driver = plain.gpu.driver();
    // They give some invocations that have left a loop the values of others that have not, in plain modules too.
    let is_wrong_behind_loops = driver[0].contains("SwiftShader") || driver[1].starts_with("Mesa 22.");
    let may_be_miscompiled = matches!(shape, Shape::DivergentLoops | Shape::Callees) && is_wrong_behind_loops;
    let (mut count, mut miscompiled, mut unknown) = (0, 0, 0);
    let (mut failures, mut slowest) = (Vec::new(), (Duration::ZERO, String::new()));
    // Never fewer than one for each driver.
    let all = if is_quarter() { 4 * PROGRAMS } else { PROGRAMS };
    for seed in seeds(all).take_while(|_| !is_over(start)) {
        let program = program(shape, seed, slang.as_ref()).with_context(|| format!("seed {seed}"))?;
        let Some(program) = program else { continue };
        let expected = interpret(&program, seed)?;
        unknown += u32::from(expected.is_none());
        let mut forms = vec![("", program.words.clone()), (", optimised", optimized(&program.words)?)];
        if is_quarter() {
            forms.remove(seed as usize % 2);
        }
        for (how, words) in forms {
            let name = format!("seed {seed}{how}");
            // The last line names the program that a driver dies of.
            println!("{name}");
            let reference = run(&plain, &program, &words, &received).with_context(|| format!("{name}, plain"))?;
            if let Some(expected) = &expected {
                let is_equal = *expected == [reference.out.clone(), reference.nodes.clone()];
                if !is_equal && may_be_miscompiled {
                    miscompiled += 1;
                    continue;
                }
                if !is_equal {
                    let difference = same_words(&reference.out, &expected[0]).err();
                    failures.push(format!(
                        "{name}: the plain module has other results than in the interpreter: {difference:?}\n{}",
                        program.text
                    ));
                    continue;
                }
            }
            for (set, device) in sets.iter().zip(&checked) {
                println!("{name}, {set}");
                count += 1;
                match run(device, &program, &words, &received).and_then(|ran| {
                    if ran.time > slowest.0 {
                        slowest = (ran.time, format!("{name}, {set}, plain {:?}", reference.time));
                    }
                    compare(&reference, &ran)
                }) {
                    Ok(()) => {}
                    Err(error) => failures.push(format!("{name}, {set}: {error:#}")),
                }
            }
        }
        if failures.len() >= 20 {
            break;
        }
    }
    println!(
        "{count} modules with checks, {miscompiled} that the driver computes wrongly without, {unknown} programs that the interpreter does \
         not know; the slowest: {:?}, {}",
        slowest.0, slowest.1
    );
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    ensure!(count + miscompiled > 0 || is_over(start), "no program ran");
    Ok(())
}

/// Opens the driver with a set of checks.
fn open(context: &Context, received: &Received, set: Option<&str>) -> Result<Gpu> {
    let value = CString::new(set.unwrap_or("off"))?;
    let values = [value.as_ptr()];
    let settings = [text(c"sanitize", &values)];
    let chained = Chained {
        messenger: Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)),
        settings: &settings,
        ..Chained::default()
    };
    Gpu::open_with(context, vk::API_VERSION_1_3, &chained)
}

fn device(gpu: &Gpu) -> Result<Device<'_>> {
    let mut pointers = vk::PhysicalDeviceVariablePointersFeatures::default();
    gpu.ask(&mut pointers);
    pointers.p_next = std::ptr::null_mut();
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::ADDRESSES
    };
    let more = ExtraDeviceInfo {
        extensions: Vec::new(),
        features: vec![&mut pointers],
    };
    Device::extended(gpu, options, more)
}

/// The program of a seed. `None` if a compiler emits an invalid module.
fn program(shape: Shape, seed: u64, slang: Option<&Slang>) -> Result<Option<Program>> {
    let choices = &mut Choices::seeded(seed);
    let has_addresses = shape == Shape::OneAddress;
    let sources = [
        Source::Text(Language::Glsl),
        Source::Module,
        Source::Text(Language::Slang),
    ];
    // Each driver has every third seed: together they have every source.
    let source = match sources.get((seed + seed / 3) as usize % sources.len()) {
        Some(source) if shape != Shape::ReturnedPointers => *source,
        _ => Source::Module,
    };
    let Source::Text(language) = source else {
        let (words, invocations) = generate_shape(choices, shape);
        return Ok(Some(Program {
            words,
            entry: c"main".into(),
            invocations,
            has_addresses,
            text: "a generated module".to_owned(),
        }));
    };
    let language = if slang.is_none() { Language::Glsl } else { language };
    let (text, invocations) = shape_program(language, choices, shape);
    let words = match (language, slang) {
        (Language::Slang, Some(slang)) => slang.compile("program.slang", &text, &[]),
        _ => crate::glsl::compile_compute(&text),
    };
    let words = words.with_context(|| format!("the program does not compile:\n{text}"))?;
    Ok(is_valid(&words).then_some(Program {
        words,
        entry: c"main".into(),
        invocations,
        has_addresses,
        text,
    }))
}

/// Results of the interpreter: the words and the nodes. `None` if it does not know an instruction.
fn interpret(program: &Program, seed: u64) -> Result<Option<[Vec<u32>; 2]>> {
    let inputs = ShapeInputs::new(INTERPRETED);
    match interpret_shape(&program.words, &inputs, program.invocations, &mut Choices::seeded(seed)) {
        Ok(Some(results)) => {
            let out = results.buffers.into_iter().next().context("no results")?.1;
            Ok(Some([out, without_addresses(results.nodes)]))
        }
        Ok(None) => bail!("the program of seed {seed} is not sound:\n{}", program.text),
        Err(_) => Ok(None),
    }
}

/// The words of the nodes without the addresses among them, which differ between runs.
fn without_addresses(mut nodes: Vec<u32>) -> Vec<u32> {
    let next = ShapeInputs::NEXT_OFFSET as usize / 4;
    let (rows, _) = nodes.as_chunks_mut::<{ ShapeInputs::NODE_WORDS as usize }>();
    for row in rows {
        row.iter_mut().skip(next).take(2).for_each(|word| *word = 0);
    }
    nodes
}

fn run(device: &Device<'_>, program: &Program, words: &[u32], received: &Received) -> Result<Ran> {
    let nodes = Buffer::addressed(device, &ShapeInputs::new(0).nodes, vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let inputs = ShapeInputs::new(nodes.address());
    nodes.write(&inputs.nodes);
    // Programs without addresses read these words as numbers, which have to be the same in each run.
    let data = match program.has_addresses {
        true => inputs.data.clone(),
        false => ShapeInputs::new(INTERPRETED).data,
    };
    let out = Buffer::storage(device, &inputs.out)?;
    let settings = Buffer::uniform(device, &inputs.settings)?;
    let data = Buffer::storage(device, &data)?;
    let start = processor_time();
    let kernel = Kernel::with_entry(device, words, &program.entry, &[&out, &settings, &data])?;
    let (_submission, result) = kernel.run(1)?;
    let time = processor_time().saturating_sub(start);
    let reports = received.take();
    expect_success(result).with_context(|| format!("reports: {reports:?}"))?;
    Ok(Ran {
        out: out.read(),
        nodes: without_addresses(nodes.read()),
        time,
        reports,
    })
}

fn compare(plain: &Ran, checked: &Ran) -> Result<()> {
    ensure!(
        checked.reports.is_empty(),
        "a sound program has reports: {:?}",
        checked.reports
    );
    same_words(&checked.out, &plain.out).context("other results")?;
    same_words(&checked.nodes, &plain.nodes).context("other nodes")?;
    let is_slow = checked.time > MOST_TIME && checked.time > plain.time * MOST_TIMES;
    ensure!(
        !is_slow,
        "the checked module takes {:?} to compile, the plain one {:?}",
        checked.time,
        plain.time
    );
    Ok(())
}
