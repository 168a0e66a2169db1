//! Prints of shaders: their text, their locations, and the shader's other effects.

use super::deliver::{self, Received};
use super::support::{
    GROUPS, compile_stages_by, draw_compiled, expect_lost, expect_success, incremented, marked, run, same_words,
    without_abort,
};
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::glsl_debug::{self, Form};
use crate::slang::Slang;
use crate::vk::{Buffer, Device, Gpu, Kernel, ShaderSource};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use vkabort_report::json::{Entry, read_log};

const PRINTF: &[(&str, &str)] = &[("printf", "on")];
const INVOCATIONS: &[(&str, &str)] = &[("printf", "invocations")];
const OFF: &[(&str, &str)] = &[("printf", "off"), ("enable", "always")];
const JSON: &[(&str, &str)] = &[("printf", "on"), ("log_format", "json")];
const WITH_CHECKS: &[(&str, &str)] = &[("printf", "on"), ("sanitize", "default"), ("loop_budget", "20000")];
const DUMPED: &[(&str, &str)] = &[("printf", "on"), ("dump_dir", "dumps"), ("on_abort", "continue")];
const NO_MESSENGER: &[(&str, &str)] = &[("printf", "on"), ("messenger_severity", "off")];

const VALIDATION_PRINTF: &[(&str, &str)] = &[("VK_LAYER_PRINTF_ENABLE", "1"), ("VK_LAYER_PRINTF_ONLY_PRESET", "1")];

/// The lines of `FORMATS`.
const LINES: &[&str] = &[
    "print.comp:10: 7 -7 7\n",
    "print.comp:11: 0x1f 37 1F|    7|7    |00007\n",
    "print.comp:12: 1.5 1.50 1.500000e+00 1.5 0x1.8p+0\n",
    "print.comp:13: 3, 0, 0 0.50, 1.50\n",
    "print.comp:14: 100% 1\n",
    "print.comp:15: no arguments\n",
];

const FORMATS: &str = r#"debugPrintfEXT("%u %d %i", word, -int(word), int(word));
debugPrintfEXT("%#x %o %X|%5u|%-5u|%05u", 31u, 31u, 31u, word, word, word);
debugPrintfEXT("%f %.2f %e %g %a", 1.5, 1.5, 1.5, 1.5, 1.5);
debugPrintfEXT("%v3u %1.2v2f", gl_GlobalInvocationID, vec2(0.5, 1.5));
debugPrintfEXT("100%% %d", word == 7u);
debugPrintfEXT("no arguments\n");"#;

const OF_64_BITS: &str = r#"uint64_t big = 12345678901ul + uint64_t(word) - 7ul;
debugPrintfEXT("%ul %lx %v2lu 0x%016lx", big, big, u64vec2(big, 1ul), 0xabcdul);"#;

/// The prints of glslang's own test (`Test/spv.debugPrintf.frag`): escapes of the language, and a macro for the text.
const OF_GLSLANG: &str = r#"debugPrintfEXT("ASDF \\ \? \x5C %d %d %d", 1, 2, 3);
debugPrintfEXT("\x41\x000042\x41\x8Z");
debugPrintfEXT("\102\043\44\7\1021Z");
#define FMT "macro expanded: %d"
debugPrintfEXT(FMT, 4);"#;

/// In a callee, in a loop and in its continue construct.
const CONSTRUCTS: &str = r#"for (uint at = 0u; at < 2u; at += show(at)) { debugPrintfEXT("round %u", at); }"#;

pub(super) const CASES: &[Case] = cases! {
    "prints::formats" => words(gpu, FORMATS), set(PRINTF), logs(LINES);
    "prints::of_64_bits" => of_64_bits(gpu), set(PRINTF),
        logs(&["print.comp:11: 12345678901 2dfdc1c35 12345678901, 1 0x000000000000abcd\n"]);
    // Logs are compared with `/` in the place of each backslash.
    "prints::of_glslang_s_own_test" => words(gpu, OF_GLSLANG), set(PRINTF),
        logs(&[
            "print.comp:10: ASDF / ? / 1 2 3\n",
            "print.comp:11: ABA/x08Z\n",
            "print.comp:12: B#$/x07B1Z\n",
            "print.comp:14: macro expanded: 4\n",
        ]);
    "prints::in_callees_and_loops" => constructs(context), set(PRINTF);
    "prints::who_prints" => words(gpu, r#"debugPrintfEXT("here");"#), set(INVOCATIONS),
        logs(&["print.comp:10: [compute global (3, 0, 0), local (3, 0, 0) in workgroup (0, 0, 0)] here\n"]);
    "prints::too_few_and_too_many_arguments" => words(gpu, r#"debugPrintfEXT("%u %u %y", word); debugPrintfEXT("x", word);"#),
        set(PRINTF), logs(&["print.comp:10: 7 %u<missing> %y\n", "print.comp:10: x [7]\n"]);
    "prints::a_text_of_several_lines" => words(gpu, r#"debugPrintfEXT("a\nvkabort: error: b\n");"#), set(PRINTF),
        logs(&["print.comp:10: a\n    vkabort: error: b\n"]);
    "prints::of_slang" => slang(gpu, "print.slang"), set(PRINTF), logs(&["print.slang:7: word 3 is 7, 0.5\n"]);
    "prints::of_hlsl" => slang(gpu, "print.hlsl"), set(PRINTF), logs(&["print.hlsl:7: word 3 is 7, 0.5\n"]);
    "prints::beside_an_abort" => beside_abort(device), set(PRINTF),
        logs(&["main: before the abort\n", "main: 9 goes on\n", "shader aborted: word 3 is 7"]);
    "prints::in_front_of_a_loop_that_does_not_end" => words(gpu, r#"debugPrintfEXT("before the loop"); while (word == words[i]) {}"#),
        set(WITH_CHECKS), logs(&["print.comp:10: before the loop\n", "loop budget of 20000 iterations is used up"]);
    "prints::of_helper_invocations" => helpers(gpu), set(PRINTF), silent();
    "prints::of_a_program_of_vulkan_1_0" => of_version(context, vk::API_VERSION_1_0), alone(), set(PRINTF), logs(&["main: here\n"]);
    "prints::to_messengers" => messengers(context, 64), set(PRINTF);
    "prints::to_no_messenger" => messengers(context, 0), set(NO_MESSENGER);
    "prints::once_beside_a_validation_layer_that_prints" => once(context), set(PRINTF), with(VALIDATION_PRINTF);
    "prints::as_json_lines" => words(gpu, r#"debugPrintfEXT("%u", word);"#), set(JSON),
        logs(&[r#"{"type":"print","version":"#, r#""location":{"file":"print.comp","line":10,"#, r#""global":[3,0,0]"#, r#""text":"7""#]);
    "prints::in_a_dump" => dump(device), set(DUMPED), logs(&["main: before the abort\n"]);
    "prints::of_a_program_that_prints_nothing" => words(gpu, r#"if (word == 8u) { debugPrintfEXT("never"); }"#), set(PRINTF), silent();
    "prints::off" => words(gpu, r#"debugPrintfEXT("here");"#), set(OFF), silent();
    "prints::on_a_native_driver" => words(gpu, r#"debugPrintfEXT("here");"#), on_native(), set(PRINTF),
        logs(&["do not print, since the layer does not emulate VK_KHR_shader_abort there; set emulation = force"]);
};

/// A shader with `code` for the invocations whose word is 7, in line 10, and debug information.
pub(super) fn shader(code: &str) -> Result<Vec<u32>> {
    let more = match code.contains("64") {
        true => "GL_EXT_shader_explicit_arithmetic_types_int64",
        false => "GL_KHR_shader_subgroup_basic",
    };
    let text = format!(
        "#version 460
#extension GL_EXT_debug_printf : require
#extension {more} : enable
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
uint show(uint at) {{ debugPrintfEXT(\"callee %u\", at); return 1u; }}
void main() {{
uint i = gl_GlobalInvocationID.x, word = words[i];
if (word == 7u) {{
{code}
}} else {{ words[i] = word + 1000u; }}
}}"
    );
    glsl_debug::compile_text("print.comp", &text, Form::Lines)
}

/// Runs the code in invocation 3.
fn words(gpu: &Gpu, code: &str) -> Result<()> {
    let device = without_abort(gpu)?;
    let after = run(&device, &shader(code)?, &marked(&[3]))?.succeeded()?;
    same_words(&after, &incremented(&marked(&[3])))
}

fn of_64_bits(gpu: &Gpu) -> Result<()> {
    gpu.require(gpu.features().0.shader_int64, "shaderInt64")?;
    words(gpu, OF_64_BITS)
}

/// The order of the prints of an invocation is that of its code.
fn constructs(context: &Context) -> Result<()> {
    let received = Received::default();
    let gpu = deliver::open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)),
    )?;
    words(&gpu, CONSTRUCTS)?;
    let texts = received.take();
    let expected =
        ["10: round 0", "6: callee 0", "10: round 1", "6: callee 1"].map(|text| format!("print.comp:{text}"));
    ensure!(texts == expected, "{texts:?}");
    Ok(())
}

/// Slang and HLSL, with lines.
fn slang(gpu: &Gpu, file: &str) -> Result<()> {
    let text = "RWStructuredBuffer<uint> words;
        [shader(\"compute\")]
        [numthreads(32, 1, 1)]
        void main(uint3 id: SV_DispatchThreadID) {
            uint i = id.x;
            uint word = words[i];
            if (word == 7) { printf(\"word %u is %u, %f\\n\", i, word, 0.5f); } else { words[i] = word + 1000; }
        }";
    let words = Slang::find()?.compile(file, text, &["-g2"])?;
    let after = run(&without_abort(gpu)?, &words, &marked(&[3]))?.succeeded()?;
    same_words(&after, &incremented(&marked(&[3])))
}

/// An invocation prints and aborts, another one prints.
const ABORTING: &str = "#version 460
#extension GL_EXT_abort : require
#extension GL_EXT_debug_printf : require
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, word = words[i];
    if (word == 7u) {
        debugPrintfEXT(\"before the abort\");
        abortEXT(\"word %u is %u\", i, word);
        debugPrintfEXT(\"behind the abort\");
    }
    if (i == 9u) { debugPrintfEXT(\"%u goes on\", i); }
    words[i] = word + 1000u;
}";

fn beside_abort(device: &Device<'_>) -> Result<()> {
    let spirv = glsl::compile_compute(ABORTING)?;
    let buffer = Buffer::storage(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &spirv, &[&buffer])?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    same_words(&buffer.read(), &incremented(&marked(&[3])))
}

/// The dump of an abort begins with the prints before it.
fn dump(device: &Device<'_>) -> Result<()> {
    let spirv = glsl::compile_compute(ABORTING)?;
    let buffer = Buffer::storage(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &spirv, &[&buffer])?;
    expect_success(kernel.run_to_end(GROUPS)?)?;
    let folder = std::fs::read_dir("dumps")?.next().context("there is no dump")??.path();
    let entries = read_log(&std::fs::read_to_string(folder.join("report.jsonl"))?)?;
    let prints = entries.iter().filter(|entry| matches!(entry, Entry::Print(_))).count();
    ensure!(prints == 2 && entries.len() == 3, "{entries:?}");
    let text = std::fs::read_to_string(folder.join("report.txt"))?;
    ensure!(text.contains("main: [compute global (3, 0, 0)"), "{text}");
    Ok(())
}

/// Only helper invocations print.
fn helpers(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let compile: fn(&str) -> Result<Vec<u32>> = |name| match name.ends_with(".vert") {
        true => glsl::compile(name),
        false => glsl::compile_text(
            "#version 460
            #extension GL_EXT_debug_printf : require
            layout(location = 0) out vec4 color;
            void main() {
                if (gl_HelperInvocation) { debugPrintfEXT(\"a helper\"); }
                color = vec4(1.0) + 0.0 * dFdx(gl_FragCoord);
            }",
            "frag",
            glsl::TargetEnv::Vulkan1_2,
        ),
    };
    let shaders = compile_stages_by(&["sanitize/half.vert", "helper.frag"], compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, [0, 0])?;
    expect_success(result)?;
    image.expect_white(&[(0, 0), (20, 20), (62, 0), (0, 62)])
}

/// A program that knows no later version and enables nothing.
fn of_version(context: &Context, version: u32) -> Result<()> {
    let gpu = Gpu::open_as(context, version)?;
    let text = "#version 450
        #extension GL_EXT_debug_printf : require
        layout(local_size_x = 32) in;
        void main() { if (gl_GlobalInvocationID.x == 3u) { debugPrintfEXT(\"here\"); } }";
    let spirv = glsl::compile_text(text, "comp", glsl::TargetEnv::Vulkan1_0)?;
    run(&without_abort(&gpu)?, &spirv, &marked(&[]))?.succeeded().map(drop)
}

/// A validation layer above takes the print out of the module, and this layer does so for one below.
fn once(context: &Context) -> Result<()> {
    use vk::DebugUtilsMessageTypeFlagsEXT as Type;
    let received = Received::default();
    let info = received.info(vk::DebugUtilsMessageSeverityFlagsEXT::INFO);
    let gpu = deliver::open(context, Some(info.message_type(Type::GENERAL | Type::VALIDATION)))?;
    gpu.messages.expect("WARNING-Setting-Limit-Adjusted");
    let device = without_abort(&gpu)?;
    run(&device, &shader(r#"debugPrintfEXT("only once");"#)?, &marked(&[3]))?.succeeded()?;
    device.wait_idle()?;
    let texts = received.take();
    let prints = texts.iter().filter(|text| text.contains("only once")).count();
    ensure!(prints == 1, "{texts:?}");
    Ok(())
}

/// A messenger of information receives each print once.
fn messengers(context: &Context, expected: usize) -> Result<()> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    let (info, severe) = (Received::default(), Received::default());
    let gpu = deliver::open(context, Some(info.info(Severity::INFO)))?;
    let _messenger = gpu.messenger(&severe.info(Severity::ERROR | Severity::WARNING))?;
    let device = without_abort(&gpu)?;
    run(&device, &shader(r#"debugPrintfEXT("%u", i);"#)?, &[7; 64])?.succeeded()?;
    let mut texts = info.take();
    texts.sort();
    let mut all: Vec<String> = (0..expected).map(|i| format!("print.comp:10: {i}")).collect();
    all.sort();
    ensure!(texts == all && severe.take().is_empty(), "{texts:?}");
    Ok(())
}
