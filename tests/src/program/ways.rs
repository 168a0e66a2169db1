//! Ways to compile random programs: compilers, their debug information, and whether an optimizer follows.

use super::{Language, Program, is_valid};
use crate::glsl_debug::{self, Form};
use crate::slang::Slang;
use crate::{glsl, shader_cache};
use anyhow::{Context, Result};
use vkabort_oracle::check::Subject;
use vkabort_oracle::check::compute_run::{ComputeRun, interpret_compute};
use vkabort_oracle::module::Module;

/// A way to compile programs.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Source language.
    pub language: Language,
    /// Name, for messages.
    pub name: &'static str,
    /// Arguments of Slang.
    arguments: &'static [&'static str],
    /// Debug information of glslang.
    form: Option<Form>,
    /// `spirv-opt` follows.
    pub is_optimized: bool,
}

const fn glslang(name: &'static str, form: Option<Form>, is_optimized: bool) -> Way {
    Way {
        language: Language::Glsl,
        name,
        arguments: &[],
        form,
        is_optimized,
    }
}

const fn slang(name: &'static str, arguments: &'static [&'static str]) -> Way {
    Way {
        language: Language::Slang,
        name,
        arguments,
        form: None,
        is_optimized: false,
    }
}

/// Every way.
pub const WAYS: [Way; 11] = [
    glslang("glslang", None, false),
    glslang("glslang -g", Some(Form::Lines), false),
    glslang("glslang -gVS", Some(Form::NonSemantic), false),
    glslang("glslang, optimized", None, true),
    glslang("glslang -g, optimized", Some(Form::Lines), true),
    glslang("glslang -gVS, optimized", Some(Form::NonSemantic), true),
    slang("slang", &[]),
    slang("slang -g", &["-g"]),
    slang("slang -g -O0", &["-g", "-O0"]),
    slang("slang -g3 -O0", &["-g3", "-O0"]),
    slang("slang -g2 -O3", &["-g2", "-O3"]),
];

impl Way {
    /// The same without `spirv-opt`.
    pub fn unoptimized(self) -> Self {
        Self {
            is_optimized: false,
            ..self
        }
    }

    /// Whether modules know the lines of their source.
    pub fn has_lines(self) -> bool {
        self.form.is_some() || !self.arguments.is_empty()
    }

    /// Compiles a program. `None` for an invalid module, which Slang emits for some programs.
    ///
    /// # Errors
    ///
    /// The program does not compile, or there is no compiler for Slang.
    pub fn compile(self, program: &Program, slang: Option<&Slang>) -> Result<Option<Vec<u32>>> {
        let text = &program.text;
        let words = match (self.language, self.form) {
            (Language::Slang, _) => slang
                .context("no Slang")?
                .compile("program.slang", text, self.arguments),
            (_, Some(form)) => glsl_debug::compile_text("program.comp", text, form),
            (_, None) => glsl::compile_compute(text),
        };
        let mut words = words.with_context(|| format!("the program does not compile:\n{text}"))?;
        if self.is_optimized {
            words = shader_cache::optimized(&words)?;
        }
        Ok(is_valid(&words).then_some(words))
    }
}

/// Interprets a compiled program, whose invocations abort at these calls of `due`, or never at 0. `None` if it takes too long.
///
/// # Errors
///
/// The module is malformed or cannot be interpreted.
pub fn interpret(words: &[u32], due: &[u32]) -> Result<Option<ComputeRun>> {
    let module = Module::parse(words).context("not a module")?;
    // `spirv-opt` removes the variable.
    let main = module.entries.first().context("no entry point")?.function;
    let ticks = module.named("ticks").unwrap_or(main);
    let subject = Subject {
        words,
        ticks,
        loop_budget: None,
    };
    interpret_compute(subject, due).map_err(anyhow::Error::msg)
}
