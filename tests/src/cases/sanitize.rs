//! Checks that the layer plants into shaders without aborts: loops that do not end.

use super::checked_body::{compile, expect};
use super::support::{GROUPS, expect_lost, incremented, marked, run, same_words, without_abort};
use crate::assembly::assemble;
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::slang::Slang;
use crate::vk::{Buffer, Device, Gpu, Kernel, khr};
use crate::word_shader::word_shader;
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use vkabort_instrument::{Checks, LoweredFeatures, Options, Outcome, Sanitize, instrument};

/// Few enough for Mesa 22.3 (llvmpipe), which ends every loop after 65,535 iterations.
pub(super) const SANITIZE: &[(&str, &str)] = &[("sanitize", "default"), ("loop_budget", "20000")];
/// Text of the report of a loop.
pub(super) const ENDLESS: &[&str] = &["loop budget of 20000 iterations is used up"];
const CONTINUE: &[(&str, &str)] = &[
    ("sanitize", "default"),
    ("loop_budget", "20000"),
    ("on_abort", "continue"),
];
const LOSE: &[(&str, &str)] = &[("sanitize", "loops"), ("loop_budget", "20000"), ("on_abort", "lose")];
/// A compiler that ran the loop itself would take longer than the case may.
const COMPILED: &[(&str, &str)] = &[("sanitize", "loops"), ("loop_budget", "60000")];
const FILTERED: &[(&str, &str)] = &[
    ("sanitize", "loops"),
    ("loop_budget", "5000"),
    ("sanitize_filter", "ignore function=main"),
];

pub(super) const CASES: &[Case] = cases! {
    "sanitize::a_while_loop" => endless(gpu, "WHILE"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_without_a_condition" => endless(gpu, "FOR_EVER"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_do_while_loop" => endless(gpu, "DO_WHILE"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_that_continues" => endless(gpu, "CONTINUE"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_around_a_finite_one" => endless(gpu, "NESTED"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_switch_in_a_loop" => endless(gpu, "SWITCH"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_in_a_callee" => endless(gpu, "CALLEE"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_in_front_of_a_barrier" => endless(gpu, "BARRIER"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_that_waits_for_memory" => endless(gpu, "MEMORY"), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loop_that_constants_decide" => endless(gpu, "CONSTANTS"), set(COMPILED), within(15),
        logs(&["loop budget of 60000 iterations is used up"]);
    "sanitize::loops_that_end_are_not_reported" => finite(gpu), set(SANITIZE), silent();
    "sanitize::a_budget_is_that_of_all_loops" => exhausted(gpu), set(&[("sanitize", "loops"), ("loop_budget", "5000")]),
        logs(&["loop budget of 5000 iterations is used up"]);
    "sanitize::a_filter_leaves_a_function_out" => filtered(gpu), alone(), set(FILTERED), silent();
    "sanitize::a_debug_break" => stopped(gpu, BREAK, true), set(SANITIZE), logs(&["debug break"]);
    "sanitize::a_debug_break_that_is_not_reached" => stopped(gpu, BREAK, false), set(SANITIZE), silent();
    "sanitize::a_debug_break_of_slang" => slang(gpu, SLANG_BREAK, true), set(SANITIZE),
        logs(&["shader aborted: word 3 is 7", "--> stop.slang:8"]);
    "sanitize::a_debug_break_of_slang_that_is_not_reached" => slang(gpu, SLANG_BREAK, false), set(SANITIZE), silent();
    "sanitize::an_assertion_of_hlsl" => slang(gpu, HLSL_ASSERT, true), set(SANITIZE),
        logs(&["shader aborted: debug break", "--> stop.hlsl:2"]);
    "sanitize::an_assertion_of_hlsl_that_holds" => slang(gpu, HLSL_ASSERT, false), set(SANITIZE), silent();
    "sanitize::a_panic" => stopped(gpu, PANIC, true), set(SANITIZE),
        logs(&["panicked at src/lib.rs:7:5: index out of bounds: the len is 2 but the index is 7", "by main_cs(id = vec3(3, 0, 0))"]);
    "sanitize::a_panic_that_does_not_happen" => stopped(gpu, PANIC, false), set(SANITIZE), silent();
    "sanitize::a_panic_without_a_position" => stopped(gpu, PANIC_WITHOUT_POSITION, true), set(SANITIZE),
        logs(&["shader aborted: Rust panicked: word 3 is 7"]);
    "sanitize::an_abort_of_rust" => stopped(gpu, RUST_ABORT, true), set(SANITIZE),
        logs(&["shader aborted: Rust aborten at src/lib.rs:9:5: intrinsics::abort() called"]);
    "sanitize::a_program_that_enables_the_extension" => enabled(device), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_program_of_vulkan_1_0" => of_version(context, vk::API_VERSION_1_0),
        alone(), set(SANITIZE), logs(ENDLESS);
    "sanitize::a_loss_that_is_asked_for" => lost(gpu), set(LOSE), logs(ENDLESS);
    "sanitize::on_a_native_driver" => native(gpu), on_native(), set(LOSE), logs(&["loop budget of 20000 iterations is used up"]);
    "sanitize::a_planted_module_on_a_native_driver" => planted(device), on_native(), logs(ENDLESS);
    "sanitize::on_a_native_driver_without_a_failed_check" => finite(gpu), on_native(), set(SANITIZE), silent();
    "sanitize::an_abort_of_the_program_loses_its_device" => lost_by_own_abort(device), set(SANITIZE),
        logs(&["shader aborted: word 3 is 7"]);
    "sanitize::an_abort_of_a_program_that_enables_nothing" => with_own_abort(gpu), alone(), set(SANITIZE),
        logs(&["shader aborted: word 3 is 7"]);
    "sanitize::aborts_continue_if_the_user_says_so" => continued(device), set(CONTINUE), logs(&["shader aborted: word 3 is 7"]);
    "sanitize::off_changes_nothing" => off(gpu), set(&[("sanitize", "off")]), silent();
};

/// As Slang's and DXC's intrinsics for a debugger.
const BREAK: [&str; 2] = [
    "#extension GL_EXT_spirv_intrinsics : require
     spirv_instruction(extensions = [\"SPV_KHR_non_semantic_info\"], set = \"NonSemantic.DebugBreak\", id = 1)
     void stop();",
    "stop(); return;",
];
const PRINT: &str = "#extension GL_EXT_debug_printf : require";
/// As the linker of rust-gpu writes panics with the position, callers and inputs of the entry point (`ShaderPanicStrategy`).
const PANIC: [&str; 2] = [
    PRINT,
    "debugPrintfEXT(\"\\n[Rust panicked at src/lib.rs:7:5]\\n index out of bounds: the len is %u but the index is %u\\n      in \
     fill\\n        called at src/lib.rs:12:3\\n      by main_cs(id = vec3(%v3u))\\n\", 2u, word, gl_GlobalInvocationID); return;",
];
/// The same of a module without positions.
const PANIC_WITHOUT_POSITION: [&str; 2] = [
    PRINT,
    "debugPrintfEXT(\"\\n[Rust panicked]\\n word %u is %u\\n      in main_cs()\\n\", i, word); return;",
];
/// As it writes `core::intrinsics::abort()`, with its spelling.
const RUST_ABORT: [&str; 2] = [
    PRINT,
    "debugPrintfEXT(\"\\n[Rust aborten at src/lib.rs:9:5]\\n intrinsics::abort() called\\n      in main_cs()\\n\"); return;",
];

/// A file and its source. Slang refuses `debugBreak` unless it compiles by way of GLSL.
const SLANG_BREAK: [&str; 2] = [
    "stop.slang",
    "if (word == 7) { printf(\"word %u is %u\", i, word); debugBreak(); }",
];
/// HLSL's assertion calls the debugger; the compiler here lacks it, so the source defines it.
const HLSL_ASSERT: [&str; 2] = ["stop.hlsl", "assert(word != 7);"];

/// Forms of the shader.
const FORMS: [&str; 10] = [
    "WHILE",
    "FOR_EVER",
    "DO_WHILE",
    "CONTINUE",
    "NESTED",
    "SWITCH",
    "CALLEE",
    "BARRIER",
    "MEMORY",
    "CONSTANTS",
];

/// Compiles a form of `sanitize/loops.comp`.
pub(super) fn form(name: &str) -> Result<Vec<u32>> {
    let text = std::fs::read_to_string(glsl::folder().join("sanitize/loops.comp"))?;
    let (version, rest) = text.split_once('\n').context("no #version")?;
    glsl::compile_compute(&format!("{version}\n#define {name}\n{rest}"))
}

/// Words of the shader, at which the loops of these invocations do not end, and its flag.
fn words_with_flag(endless: &[usize]) -> Vec<u32> {
    [&marked(endless)[..], &[0]].concat()
}

/// Runs a form on a device. The invocations of `endless` leave their words as they are; all others increment theirs.
pub(super) fn run_form(device: &Device<'_>, name: &str, endless: &[usize]) -> Result<()> {
    let after = run(device, &form(name)?, &words_with_flag(endless))?.succeeded()?;
    same_words(&after[..64], &incremented(&marked(endless))).context(name.to_owned())
}

fn endless(gpu: &Gpu, name: &str) -> Result<()> {
    run_form(&without_abort(gpu)?, name, &[3, 40])
}

fn finite(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    FORMS.into_iter().try_for_each(|name| run_form(&device, name, &[]))?;
    run_form(&device, "FINITE", &[])
}

/// The author of a shader stops it where a word is 7.
fn stopped(gpu: &Gpu, [head, stop]: [&str; 2], stops: bool) -> Result<()> {
    let spirv = compile(head, "", &format!("if (word == 7u) {{ {stop} }}"))?;
    expect(gpu, &spirv, if stops { &[3] } else { &[] }, false)
}

/// The same in Slang or HLSL, compiled with debug information.
fn slang(gpu: &Gpu, [file, stop]: [&str; 2], stops: bool) -> Result<()> {
    let text = format!(
        "RWStructuredBuffer<uint> words;
        #define assert(condition) if (!(condition)) {{ debugBreak(); }}
        [shader(\"compute\")]
        [numthreads(32, 1, 1)]
        void main(uint3 id: SV_DispatchThreadID) {{
            uint i = id.x;
            uint word = words[i];
            {stop}
            words[i] = word + 1000;
        }}"
    );
    let before = marked(if stops { &[3] } else { &[] });
    let words = Slang::find()?.compile(file, &text, &["-g2", "-emit-spirv-via-glsl"])?;
    let after = run(&without_abort(gpu)?, &words, &before)?.succeeded()?;
    same_words(&after, &incremented(&before))
}

/// 100 loops of 100 iterations each.
fn exhausted(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let before = words_with_flag(&[]);
    let after = run(&device, &form("FINITE")?, &before)?.succeeded()?;
    same_words(&after, &before)
}

/// The loops of `main` have no checks.
fn filtered(gpu: &Gpu) -> Result<()> {
    run_form(&without_abort(gpu)?, "FINITE", &[])
}

fn enabled(device: &Device<'_>) -> Result<()> {
    run_form(device, "DO_WHILE", &[3])
}

/// A program that knows no later version and enables nothing.
fn of_version(context: &Context, version: u32) -> Result<()> {
    let gpu = Gpu::open_as(context, version)?;
    run_form(&without_abort(&gpu)?, "WHILE", &[3])
}

/// The application has not enabled the extension, so it gets an ordinary lost device.
fn lost(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &words_with_flag(&[3]))?;
    let kernel = Kernel::new(&device, &form("WHILE")?, &[&buffer])?;
    expect_lost(kernel.run_to_end(GROUPS)?)
}

/// The driver loses the device.
fn native(gpu: &Gpu) -> Result<()> {
    ensure!(
        gpu.has_extension(khr::SHADER_ABORT_NAME)?,
        "the driver lacks the extension"
    );
    lost(gpu)
}

/// The words that `vkabort sanitize` writes, which the driver runs as they are.
fn planted(device: &Device<'_>) -> Result<()> {
    let options = Options {
        lowers: LoweredFeatures::default(),
        sanitize: Sanitize {
            checks: Checks::defaults(),
            loop_budget: 20_000,
            ..Sanitize::default()
        },
        ..Options::default()
    };
    let Outcome::Instrumented(planted) = instrument(&form("WHILE")?, &options)? else {
        bail!("nothing was planted");
    };
    let (_, payloads) = run(device, &planted.words, &words_with_flag(&[3]))?.lost()?;
    ensure!(payloads.len() == 1, "{payloads:?}");
    Ok(())
}

/// The program has enabled the extension, so it expects losses by its own aborts. A failed check before does not lose the device.
fn lost_by_own_abort(device: &Device<'_>) -> Result<()> {
    run_form(device, "DO_WHILE", &[3])?;
    let buffer = Buffer::storage(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    ensure!(
        device.payloads()?.len() == 1,
        "the device has another number of messages than 1"
    );
    Ok(())
}

fn with_own_abort(gpu: &Gpu) -> Result<()> {
    continued(&without_abort(gpu)?)
}

fn continued(device: &Device<'_>) -> Result<()> {
    let after = run(device, &glsl::compile("abort/entry_point.comp")?, &marked(&[3]))?.succeeded()?;
    same_words(&after, &incremented(&marked(&[3])))
}

fn off(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let words = marked(&[3]);
    let after = run(&device, &assemble(&word_shader(&["add"], &[])?)?, &words)?.succeeded()?;
    same_words(&after, &words.iter().map(|word| word + 1000).collect::<Vec<_>>())
}
