//! Random compute shaders as source text. Compilers emit control flow that handwritten modules do not contain.
//!
//! Programs terminate and have no undefined behaviour, and each invocation writes only its own words. An abort is guarded
//! by the function `due`, as in the modules of [`vkabort_oracle::generate`], whose buffers they use: the host chooses when
//! an invocation aborts, and the oracle's interpreter computes the expected result.

mod expression;
mod language;
mod probe;
pub mod shape;
mod statement;
mod variables;
mod ways;
mod writer;

use crate::{glsl, slang::Slang};
use anyhow::{Context, Result};
pub use language::Language;
pub use probe::{Fault, MARK, PROBED, Probe};
pub use variables::{numbers, sent_variables};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::module::{Id, Module};
use vkabort_oracle::words::without_extensions;
use vkabort_test_kit::spirv_tools::{TargetEnv, validate};
pub use ways::{WAYS, Way, interpret};
use writer::{Messages, Writer};

/// A program as text.
#[derive(Clone, Debug)]
pub struct Program {
    /// Source language.
    pub language: Language,
    /// Source text.
    pub text: String,
}

/// Whether a module is valid once core instructions replace the extensions.
pub fn is_valid(words: &[u32]) -> bool {
    without_extensions(words).is_some_and(|plain| validate(&plain, TargetEnv::Vulkan1_3).is_ok())
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// The function `due`.
    pub due: Id,
    /// The variable that counts calls of `due`.
    pub ticks: Id,
    /// The entry point's function, which sets the variables that `due` reads.
    pub main: Id,
}

impl Program {
    /// The program of a seed. Without `aborts`, the same program with every abort removed.
    pub fn new(language: Language, seed: u64, aborts: bool) -> Self {
        let mut choices = Choices::seeded(seed);
        Self {
            language,
            text: Writer::program(language, &mut choices, aborts, Messages::Random),
        }
    }

    /// A program of a seed whose aborts send the variables in scope, by name, or in an otherwise equal program nothing.
    pub fn with_variables(language: Language, seed: u64, sends: bool) -> Self {
        let mut choices = Choices::seeded(seed);
        let messages = if sends { Messages::Variables } else { Messages::Nothing };
        Self {
            language,
            text: Writer::program(language, &mut choices, true, messages),
        }
    }

    /// The program of a seed without aborts and with a probe in front of the statement of this number, and how many statements it
    /// has. Names repeat, as in source that people write.
    pub fn probed(language: Language, seed: u64, at: u32, probe: Probe) -> (Self, u32) {
        let mut choices = Choices::seeded(seed);
        let (text, statements) = Writer::probed(language, &mut choices, at, probe);
        (Self { language, text }, statements)
    }

    /// Compiles the program. Slang programs need `slang`.
    ///
    /// # Errors
    ///
    /// The program does not compile, or the module lacks `due`, `ticks` or an entry point.
    pub fn compile(&self, seed: u64, slang: Option<&Slang>) -> Result<Compiled> {
        let words = match self.language {
            Language::Glsl => {
                let env = match seed % 3 {
                    0 => TargetEnv::Vulkan1_1,
                    1 => TargetEnv::Vulkan1_2,
                    _ => TargetEnv::Vulkan1_3,
                };
                glsl::compile_text(&self.text, "comp", env)
            }
            Language::Slang => {
                let arguments: &[&str] = match seed % 3 {
                    0 => &["-profile", "spirv_1_3"],
                    1 => &["-profile", "spirv_1_5", "-g2"],
                    _ => &["-profile", "spirv_1_6", "-O0"],
                };
                slang
                    .context("Slang programs need a compiler")?
                    .compile("program.slang", &self.text, arguments)
            }
        }
        .with_context(|| format!("the program does not compile:\n{}", self.text))?;
        let module = Module::parse(&words).context("the compiler's output is not a module")?;
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
