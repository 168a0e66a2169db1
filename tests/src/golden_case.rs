//! Golden cases of the rewriter, `tests/golden`: the input of each, with its options. `tests/tests/golden.rs` describes the
//! format.

use crate::golden_diff::can_show;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use vkabort_instrument::{
    Arena, Feature, Hooks, LoopPoll, LoopTimeout, LoweredFeatures, NotSanitized, Options, Outcome, Prints, Trap,
    Values, instrument_with,
};
use vkabort_test_kit::spirv_tools::TargetEnv;

/// Bytes of an arena at an address of the case's choice.
const ARENA_BYTES: u32 = 1 << 20;

/// Paths of all cases.
///
/// # Errors
///
/// The folder cannot be read.
pub fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root)? {
        let folder = folder?.path();
        if folder.is_dir() && !folder.ends_with("prelude") {
            for file in std::fs::read_dir(folder)? {
                files.push(file?.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The lines of a case before its expected part.
pub fn input(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| !line.starts_with(";; ")).collect()
}

/// An input with its options.
pub struct GoldenCase<'t> {
    lines: Vec<&'t str>,
    /// Options of the rewrite.
    pub options: Options,
    /// Address of the memory for constant data.
    constant_memory: Option<u64>,
    prelude: String,
    /// Target environment.
    pub env: TargetEnv,
    /// Values of `show=`.
    pub shown: Vec<String>,
    /// The expected part.
    pub output: Output,
}

/// The expected part of a module that is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The rewritten words.
    Words,
    /// The locations of the aborts.
    Sites,
    /// The warnings.
    Warnings,
}

impl<'t> GoldenCase<'t> {
    /// Reads the lines before the expected part.
    ///
    /// # Errors
    ///
    /// An option is unknown.
    pub fn parse(lines: &[&'t str]) -> Result<Self> {
        let mut case = Self {
            lines: lines.iter().copied().filter(|line| !line.starts_with(';')).collect(),
            options: Options {
                loop_poll: LoopPoll::Off,
                ..Options::default()
            },
            constant_memory: None,
            prelude: "compute".into(),
            env: TargetEnv::Vulkan1_2,
            shown: Vec::new(),
            output: Output::Words,
        };
        let options = lines.iter().filter_map(|line| line.strip_prefix("; options: "));
        for option in options.flat_map(str::split_whitespace) {
            let (key, value) = option
                .split_once('=')
                .with_context(|| format!("{option} is not key=value"))?;
            match (key, value) {
                ("show", name) if can_show(name) => case.shown.push(name.into()),
                ("output", "sites") => case.output = Output::Sites,
                ("output", "warnings") => case.output = Output::Warnings,
                ("prelude", name) => case.prelude = name.into(),
                ("env", "vulkan1.0") => case.env = TargetEnv::Vulkan1_0,
                ("env", "vulkan1.1") => case.env = TargetEnv::Vulkan1_1,
                ("env", "vulkan1.1spirv1.4") => case.env = TargetEnv::Vulkan1_1Spirv1_4,
                ("env", "vulkan1.3") => case.env = TargetEnv::Vulkan1_3,
                ("sanitize", checks) => {
                    case.options.sanitize.checks = checks.parse().map_err(anyhow::Error::msg)?;
                }
                ("loop_budget", count) => case.options.sanitize.loop_budget = count.parse()?,
                ("loop_timeout_ms", milliseconds) => {
                    case.options.sanitize.loop_timeout = Some(LoopTimeout {
                        milliseconds: milliseconds.parse()?,
                        interval: 1024,
                    });
                }
                ("rewrites_specialised", "on") => case.options.sanitize.rewrites_specialised = true,
                ("counts_all_loops", "on") => case.options.sanitize.counts_all_loops = true,
                ("counts_ends_early", "on") => case.options.sanitize.counts_ends_early = true,
                ("joins_tests", "off") => case.options.sanitize.joins_tests = false,
                ("recorded_together", count) => case.options.sanitize.recorded_together = count.parse()?,
                ("values", "on") => case.options.values = Values::On,
                ("values", "auto") => case.options.values = Values::Auto,
                ("values_size", bytes) => case.options.values_size = bytes.parse()?,
                ("lowers", "nothing") => case.options.lowers = LoweredFeatures::default(),
                ("lowers", "poison") => {
                    case.options.lowers = LoweredFeatures::default().with(Feature::PoisonFreeze);
                }
                ("trap", "return") => case.options.trap = Trap::Return,
                ("trap", "fault") => case.options.trap = Trap::Fault,
                ("trap", "hang") => case.options.trap = Trap::Hang,
                ("hang_iterations", count) => case.options.hang_iterations = count.parse()?,
                ("loop_poll", "auto") => case.options.loop_poll = LoopPoll::Auto,
                ("loop_poll", "all") => case.options.loop_poll = LoopPoll::All,
                ("arena", address) => case.options.arena = Arena::at(parse_address(address)?, ARENA_BYTES),
                ("control", address) => case.options.arena = case.options.arena.with_control(parse_address(address)?),
                ("prints", address) => {
                    case.options.prints = Some(Prints {
                        address: parse_address(address)?,
                        bytes: ARENA_BYTES,
                        skipped_models: Vec::new(),
                    });
                }
                ("skips_prints", model) => {
                    let prints = case.options.prints.as_mut().context("skips_prints follows prints")?;
                    prints.skipped_models.push(model.parse()?);
                }
                ("constant_memory", address) => case.constant_memory = Some(parse_address(address)?),
                ("memory_barriers", "off") => case.options.memory_barriers = false,
                ("compact_records", "on") => case.options.compact_records = true,
                ("branches_at_exits", "on") => case.options.branches_at_exits = true,
                ("breaks_at_starts", "on") => case.options.breaks_at_starts = true,
                ("remembers_loop_values", "on") => case.options.remembers_loop_values = true,
                ("opaque_conditions", "on") => case.options.opaque_conditions = true,
                ("scalar_stores", "on") => case.options.scalar_stores = true,
                ("max_sites", count) => case.options.max_sites = Some(count.parse()?),
                ("loop_exits", count) => case.options.loop_exits = count.parse()?,
                ("max_message_bytes", bytes) => case.options.max_message_bytes = bytes.parse()?,
                ("specialize", pair) => {
                    let (id, text) = pair.split_once(':').context("specialize=ID:TEXT or ID:#WORD")?;
                    let data = match text.strip_prefix('#') {
                        Some(word) => word.parse::<u32>()?.to_le_bytes().to_vec(),
                        None => text.as_bytes().to_vec(),
                    };
                    case.options.specialization.insert(id.parse()?, data);
                }
                _ => bail!("unknown option {option}"),
            }
        }
        Ok(case)
    }

    /// Rewrites a module with the options of the case.
    ///
    /// # Errors
    ///
    /// The rewriter refuses the module.
    pub fn instrument(
        &self,
        words: &[u32],
        after_pass: &mut dyn FnMut(&'static str, &[u32]),
        not_sanitized: &mut NotSanitized<'_>,
    ) -> vkabort_instrument::Result<Outcome> {
        let mut not_printed = |reason: &str| panic!("prints are refused: {reason}");
        let mut next = self.constant_memory;
        let mut place = |data: &[u32]| {
            let address = next?;
            next = Some(address + size_of_val(data) as u64);
            Some(address)
        };
        let hooks = Hooks {
            after_pass: Some(after_pass),
            place: Some(&mut place),
            not_sanitized: Some(not_sanitized),
            not_printed: Some(&mut not_printed),
            ..Hooks::default()
        };
        instrument_with(words, &self.options, hooks)
    }

    /// The whole module: prelude and input, section by section, or the input as it is with `prelude=none`.
    ///
    /// # Errors
    ///
    /// The prelude cannot be read.
    pub fn module(&self, path: &Path) -> Result<String> {
        if self.prelude == "none" {
            return Ok(self.lines.join("\n"));
        }
        let preludes = path
            .parent()
            .and_then(Path::parent)
            .context("the file is not in a golden folder")?
            .join("prelude");
        let prelude = std::fs::read_to_string(preludes.join(&self.prelude).with_extension("txt"))?;
        let all: Vec<&str> = prelude.lines().chain(self.lines.iter().copied()).collect();
        let mut sorted: Vec<(usize, &str)> = all.iter().map(|line| (section(line), *line)).collect();
        sorted.sort_by_key(|(section, _)| *section);
        Ok(sorted.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
    }
}

fn parse_address(text: &str) -> Result<u64> {
    let digits = text.strip_prefix("0x").context("an address is 0xDIGITS")?;
    Ok(u64::from_str_radix(digits, 16)?)
}

/// The module section of a line of assembly.
fn section(line: &str) -> usize {
    let words: Vec<&str> = line.split_whitespace().collect();
    let opcode = if words.get(1) == Some(&"=") {
        words.get(2)
    } else {
        words.first()
    };
    match *opcode.unwrap_or(&"") {
        "OpCapability" => 0,
        "OpExtension" => 1,
        "OpExtInstImport" => 2,
        "OpMemoryModel" => 3,
        "OpEntryPoint" => 4,
        "OpExecutionMode" | "OpExecutionModeId" => 5,
        "OpString" => 6,
        "OpSource" => 7,
        "OpName" | "OpMemberName" => 8,
        "OpDecorate"
        | "OpDecorateId"
        | "OpMemberDecorate"
        | "OpMemberDecorateIdEXT"
        | "OpDecorationGroup"
        | "OpGroupDecorate"
        | "OpGroupMemberDecorate" => 9,
        _ => 10,
    }
}
