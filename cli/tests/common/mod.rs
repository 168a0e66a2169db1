//! Runs the command, and assembles modules for it.
// Each test file uses some of these functions.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use vkabort_record::invocation::Invocation;
use vkabort_record::site::Location;
use vkabort_report::Message;
use vkabort_report::{DroppedPrints, PrintLine, PrintPlace, Report, Sample, SiteReport};
use vkabort_spirv_builder::op::{self, capability, decoration, execution_mode, execution_model};
use vkabort_spirv_builder::{Builder, push, string};

/// Result of a run of the command.
pub struct Run {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }

    /// Checks that standard output starts with `text`.
    pub fn begins(&self, text: &str) {
        assert!(
            self.text().starts_with(text),
            "{text:?} is not at the start of\n{}",
            self.text()
        );
    }

    /// Checks that standard output contains `text`.
    pub fn prints(&self, text: &str) {
        assert!(self.text().contains(text), "{text:?} is not in\n{}", self.text());
    }

    /// Checks that standard error contains `text`.
    pub fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text:?} is not in\n{}", self.stderr);
    }

    /// Checks the exit code, and that standard error contains `text`.
    pub fn fails(&self, code: i32, text: &str) {
        assert_eq!(self.code, code, "stderr: {}", self.stderr);
        self.says(text);
    }

    /// Returns a run that must have succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "stderr: {}", self.stderr);
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the command exits"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }
}

/// Environment variables of a machine without drivers and layers, with home folder `home`.
pub fn without_vulkan(home: &str) -> [(&'static str, &str); 7] {
    [
        ("HOME", home),
        ("XDG_DATA_HOME", home),
        ("XDG_CONFIG_HOME", home),
        ("XDG_DATA_DIRS", home),
        ("XDG_CONFIG_DIRS", home),
        ("VK_DRIVER_FILES", "/nonexistent.json"),
        ("VK_ICD_FILENAMES", "/nonexistent.json"),
    ]
}

/// Runs `vkabort` in an environment without the machine's Vulkan configuration.
pub fn vkabort(args: &[&str], input: &[u8]) -> Run {
    run_in(Path::new("."), args, input)
}

/// [`vkabort`] in a folder.
pub fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    run_with(folder, args, input, &[])
}

/// [`run_in`] with environment variables.
pub fn run_with(folder: &Path, args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkabort"));
    for name in [
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "NO_COLOR",
        "VK_INSTANCE_LAYERS",
        "VK_LAYER_PATH",
        "VK_ADD_LAYER_PATH",
        "VKABORT_ENABLE",
    ] {
        command.env_remove(name);
    }
    let mut child = command
        .args(args)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    // A command that fails early closes its input, which is not a failure of the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the input is written");
    output.into()
}

/// A new folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the old folder is removed");
    }
    std::fs::create_dir_all(&path).expect("the folder is created");
    path
}

/// The log of a program with two aborts of one site.
pub fn report(text: &[u8]) -> String {
    let mut report = Report::default();
    report.sites.push(SiteReport {
        invocations: 2,
        function: Some("check".into()),
        samples: vec![Sample::new(Message::untyped(text))],
        ..SiteReport::default()
    });
    report.summary.invocations = 2;
    report.json_lines()
}

/// A folder with a program and an empty file as library, which nothing loads.
#[cfg(unix)]
pub fn with_program(name: &str, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(name);
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), b"").expect("written");
    std::fs::write(folder.join("abort.jsonl"), report(b"bad index")).expect("written");
    let program = folder.join("app");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    folder
}

/// A line of a program of [`with_program`] that writes a report as the layer does.
#[cfg(unix)]
pub const ABORT: &str = "cat abort.jsonl >> \"$VK_VKABORT_SHADER_ABORT_LOG_FILE\"";

/// Runs the program of [`with_program`] under `vkabort run`.
pub fn run_program(folder: &Path, options: &[&str]) -> Run {
    let args = [&["run", "--layer", "."], options, &["--", "./app", "one"]].concat();
    run_in(folder, &args, b"")
}

type Instruction<'a> = (u16, &'a [u32]);

/// A compute shader under construction.
struct Shader {
    module: Builder,
    void: u32,
    signature: u32,
    main: u32,
}

impl Shader {
    /// Without functions.
    fn new() -> Self {
        let mut module = Builder::new(3);
        module.capability(capability::Shader);
        let void = module.void();
        let (signature, main) = (module.ty(op::TypeFunction, &[void]), module.fresh());
        let entry = [&[execution_model::GLCompute, main], &string("main")[..]].concat();
        push(&mut module.entry_points, op::EntryPoint, &entry);
        let size = [main, execution_mode::LocalSize, 8, 1, 1];
        push(&mut module.modes, op::ExecutionMode, &size);
        module.name(main, "main");
        Self {
            module,
            void,
            signature,
            main,
        }
    }

    /// Adds a function without parameters.
    fn function(&mut self, id: u32, body: &[Instruction<'_>]) {
        let label = [self.module.fresh()];
        let head = [self.void, id, 0, self.signature];
        let code = &mut self.module.functions;
        let (begin, end) = (
            [(op::Function, &head[..]), (op::Label, &label)],
            [(op::FunctionEnd, &[][..])],
        );
        for (opcode, operands) in begin.iter().chain(body).chain(&end) {
            push(code, *opcode, operands);
        }
    }
}

/// An empty compute shader.
pub fn plain() -> Vec<u32> {
    let mut shader = Shader::new();
    shader.function(shader.main, &[(op::Return, &[])]);
    shader.module.finish()
}

/// A compute shader whose loop does not end.
pub fn endless() -> Vec<u32> {
    let mut shader = Shader::new();
    let [header, body, next, merge] = [0; 4].map(|_| shader.module.fresh());
    let code: [Instruction<'_>; 9] = [
        (op::Branch, &[header]),
        (op::Label, &[header]),
        (op::LoopMerge, &[merge, next, 0]),
        (op::Branch, &[body]),
        (op::Label, &[body]),
        (op::Branch, &[next]),
        (op::Label, &[next]),
        (op::Branch, &[header]),
        (op::Label, &[merge]),
    ];
    let code = [&code[..], &[(op::Return, &[])]].concat();
    shader.function(shader.main, &code);
    shader.module.finish()
}

/// A compute shader that stores the first element of a large array in a buffer, and may not have stored it.
pub fn unstored() -> Vec<u32> {
    use op::storage_class::{Private, StorageBuffer};
    let mut shader = Shader::new();
    let m = &mut shader.module;
    let uint = m.uint();
    let array = m.array(uint, 5000);
    let pointers = [array, uint].map(|pointee| m.pointer(Private, pointee));
    let variable = m.new_value(op::Variable, pointers[0], &[Private]);
    let block = m.structure(&[(uint, 0)]);
    let buffer = m.buffer(StorageBuffer, block, 0);
    let (to_word, zero) = (m.pointer(StorageBuffer, uint), m.constant(0));
    let [word, to, stored, from, value] = [0; 5].map(|_| m.fresh());
    let code: [Instruction<'_>; 7] = [
        (op::AccessChain, &[to_word, to, buffer, zero]),
        (op::Load, &[uint, word, to]),
        (op::AccessChain, &[pointers[1], stored, variable, word]),
        (op::Store, &[stored, word]),
        (op::AccessChain, &[pointers[1], from, variable, zero]),
        (op::Load, &[uint, value, from]),
        (op::Store, &[to, value]),
    ];
    let code = [&code[..], &[(op::Return, &[])]].concat();
    shader.function(shader.main, &code);
    shader.module.finish()
}

/// A compute shader whose `main` calls `check`, which aborts with `{code: 7, value: 0.5}` at hand.comp:12:5.
pub fn aborting() -> Vec<u32> {
    aborting_with("")
}

/// [`aborting`], with `more` at the end of every name, path and source line.
pub fn aborting_with(more: &str) -> Vec<u32> {
    let named = |name: &str| format!("{name}{more}");
    let mut shader = Shader::new();
    let m = &mut shader.module;
    m.capability(capability::AbortKHR);
    m.extension("SPV_KHR_abort");
    let (file, check, result) = (m.string(&named("hand.comp")), m.fresh(), m.fresh());
    let (uint, float) = (m.uint(), m.float(32));
    // Names precede decorations, so they precede the structure.
    let message = m.bound;
    for (member, name) in [(0, "code"), (1, "value")] {
        let operands = [&[message, member], &string(&named(name))[..]].concat();
        push(&mut m.decorations, op::MemberName, &operands);
    }
    assert_eq!(m.structure(&[(uint, 0), (float, 4)]), message);
    m.name(check, &named("check"));
    m.name(message, &named("Message"));
    let (seven, half) = (m.constant(7), m.value(op::Constant, float, &[0.5f32.to_bits()]));
    let constant = m.value(op::ConstantComposite, message, &[seven, half]);
    let call = [shader.void, result, check];
    let body: [Instruction<'_>; 3] = [(op::Line, &[file, 30, 1]), (op::FunctionCall, &call), (op::Return, &[])];
    shader.function(shader.main, &body);
    shader.function(
        check,
        &[(op::Line, &[file, 12, 5]), (op::AbortKHR, &[message, constant])],
    );
    let mut words = shader.module.finish();
    if !more.is_empty() {
        with_source(&mut words, file, &named("\n").repeat(40));
    }
    words
}

/// Adds the text of a source file, an `OpSource` behind the `OpString` of its name.
fn with_source(words: &mut Vec<u32>, file: u32, text: &str) {
    const SOURCE: u32 = 3;
    const GLSL: u32 = 2;
    let mut at = 5;
    while words[at] & 0xffff != u32::from(op::String) {
        at += (words[at] >> 16) as usize;
    }
    at += (words[at] >> 16) as usize;
    let operands = [&[GLSL, 460, file], &string(text)[..]].concat();
    let head = (operands.len() as u32 + 1) << 16 | SOURCE;
    words.splice(at..at, [&[head], &operands[..]].concat());
}

/// A compute shader that aborts with `format` and the number 7 at hand.comp:12:5.
pub fn formatted(format: &str) -> Vec<u32> {
    let mut shader = Shader::new();
    let m = &mut shader.module;
    for capability in [capability::Int8, capability::AbortKHR, capability::ConstantDataKHR] {
        m.capability(capability);
    }
    m.extension("SPV_KHR_abort");
    m.extension("SPV_KHR_constant_data");
    let bytes = string(format);
    let size = 4 * bytes.len() as u32;
    let (file, uint, char) = (m.string("hand.comp"), m.uint(), m.int(8, true));
    let length = m.constant(size);
    let text = m.strided_array(char, length, Some(1));
    m.decorate(text, decoration::UTFEncodedKHR, &[]);
    let message = m.structure(&[(text, 0), (uint, size)]);
    let (seven, data) = (m.constant(7), m.new_value(op::ConstantDataKHR, text, &bytes));
    let constant = m.value(op::ConstantComposite, message, &[data, seven]);
    shader.function(
        shader.main,
        &[(op::Line, &[file, 12, 5]), (op::AbortKHR, &[message, constant])],
    );
    shader.module.finish()
}

pub fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

pub fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_be_bytes()).collect()
}

/// A print and a count, as the layer writes them.
pub fn prints() -> String {
    let place = PrintPlace {
        location: Some(Location {
            file: "a.comp".into(),
            line: 9,
            column: 3,
            source: None,
        }),
        ..PrintPlace::default()
    };
    let print = PrintLine {
        place: place.clone().into(),
        stage: "compute".into(),
        invocation: Invocation::Fragment { pixel: [3, 4] },
        text: "x = 5".into(),
        notes: Vec::new(),
    };
    print.json_line() + &DroppedPrints { place, count: 3 }.json_line()
}
