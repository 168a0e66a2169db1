//! Random compute shaders in source text: what compilers make of loops, switches and calls is not what one would write
//! by hand.
//!
//! Programs end, have no undefined behaviour, and each of their invocations writes words of its own. Aborts ask the
//! function `due` first, as in the modules of [`vkabort_oracle::generate`], whose buffers they use: so the host picks the
//! moment at which an invocation aborts, and the same interpreter says what must come of it.

mod expression;
mod language;
mod statement;

use crate::{glsl, slang::Slang};
use anyhow::{Context, Result};
use glslang::{ShaderStage, SpirvVersion, VulkanVersion};
pub use language::Language;
use statement::Writer;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::module::{Id, Module};
use vkabort_oracle::words::without_extensions;
use vkabort_test_kit::spirv_tools::{TargetEnv, validate};

/// A program as text.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it is written in.
    pub language: Language,
    /// Its source.
    pub text: String,
}

/// Whether a module is valid, as far as a validator that does not know the extensions can say.
pub fn is_valid(words: &[u32]) -> bool {
    without_extensions(words).is_some_and(|plain| validate(&plain, TargetEnv::Vulkan1_3).is_ok())
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its SPIR-V.
    pub words: Vec<u32>,
    /// The function `due`.
    pub due: Id,
    /// The variable that counts how often `due` was asked.
    pub ticks: Id,
    /// The entry point's function, which sets the variables that `due` reads.
    pub main: Id,
}

impl Program {
    /// The program of a seed; without `aborts` the same one with every abort left out.
    pub fn new(language: Language, seed: u64, aborts: bool) -> Self {
        let mut choices = Choices::seeded(seed);
        Self {
            language,
            text: Writer::program(language, &mut choices, aborts),
        }
    }

    /// Compiles it. `slang` is the compiler to use for Slang.
    ///
    /// # Errors
    ///
    /// It does not compile, or what it needs is not in the module.
    pub fn compile(&self, seed: u64, slang: Option<&Slang>) -> Result<Compiled> {
        let words = match self.language {
            Language::Glsl => {
                let (vulkan, spirv) = match seed % 3 {
                    0 => (VulkanVersion::Vulkan1_1, SpirvVersion::SPIRV1_3),
                    1 => (VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5),
                    _ => (VulkanVersion::Vulkan1_3, SpirvVersion::SPIRV1_6),
                };
                glsl::compile_text(&self.text, ShaderStage::Compute, vulkan, spirv)
            }
            Language::Slang => {
                let arguments: &[&str] = match seed % 3 {
                    0 => &["-profile", "spirv_1_3"],
                    1 => &["-profile", "spirv_1_5", "-g2"],
                    _ => &["-profile", "spirv_1_6", "-O0"],
                };
                slang
                    .context("no Slang compiler was given")?
                    .compile("program.slang", &self.text, arguments)
            }
        }
        .with_context(|| format!("this does not compile:\n{}", self.text))?;
        let module = Module::parse(&words).context("the compiler made no module")?;
        let due = module
            .named("due")
            .context("the compiled program has no function due")?;
        let ticks = module
            .named("ticks")
            .context("the compiled program has no variable ticks")?;
        let main = module
            .entries
            .first()
            .context("the compiled program has no entry point")?
            .function;
        Ok(Compiled {
            words,
            due,
            ticks,
            main,
        })
    }
}
