//! Random compute shaders of the shapes of [`vkabort_oracle::generate::Shape`] as source text: compilers and optimizers emit code that a
//! generator of modules does not.
//!
//! The programs are sound: no access races, none is out of bounds, and each element is stored before it is loaded. Between two barriers,
//! each of two shared arrays is used in one way: every invocation has elements of its own, or all load any. A third array holds divisors,
//! from 1 to 16, which no analysis can know to be valid as divisors, shifts or indices.

mod accesses;
mod callees;
mod head;
mod loops;
mod one_address;

use super::Language;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::Shape;

/// Fewest and most accesses of straight code.
const ACCESSES: (u32, u32) = (12, 80);

/// How invocations use an array between two barriers.
#[derive(Clone, Copy, Debug)]
enum Use {
    /// Invocation `l` has the elements `l * factor + first`, modulo their number.
    Own {
        /// An odd number.
        factor: u32,
        first: u32,
    },
    /// All load any.
    Read,
}

/// A program of a shape, and the invocations of its one workgroup.
pub fn shape_program(language: Language, choices: &mut Choices, shape: Shape) -> (String, u32) {
    let invocations = choices.pick(&[4, 8, 32]).unwrap_or(4);
    let mut writer = ShapeWriter {
        language,
        choices,
        invocations,
        text: String::new(),
        indent: 0,
        next_name: 0,
        uses: [Use::Read; 2],
        has_data: shape != Shape::OneAddress,
    };
    writer.head(shape);
    if matches!(shape, Shape::Callees | Shape::ReturnedPointers) {
        writer.functions();
    }
    writer.begin_main();
    match shape {
        Shape::Straight => writer.straight(),
        Shape::OneAddress => writer.one_address(),
        Shape::DivergentLoops => writer.divergent_loops(),
        Shape::Callees | Shape::ReturnedPointers => writer.calls(),
    }
    writer.line("result[l] = sum;");
    writer.close();
    (writer.text, invocations)
}

/// Writes one program.
struct ShapeWriter<'c> {
    language: Language,
    choices: &'c mut Choices,
    invocations: u32,
    text: String,
    indent: usize,
    next_name: u32,
    /// How the two arrays are used up to the next barrier.
    uses: [Use; 2],
    /// Whether the buffer of words holds words, and not addresses.
    has_data: bool,
}

impl ShapeWriter<'_> {
    fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += text;
        self.text += "\n";
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
    }

    fn close(&mut self) {
        self.close_with("");
    }

    fn close_with(&mut self, text: &str) {
        self.indent -= 1;
        self.line(&format!("}}{text}"));
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}{}", self.next_name)
    }

    fn barrier(&mut self) {
        let call = match self.language {
            Language::Glsl => "barrier();",
            Language::Slang => "GroupMemoryBarrierWithGroupSync();",
        };
        self.line(call);
    }

    fn straight(&mut self) {
        let (fewest, most) = ACCESSES;
        let mut left = self.choices.between(fewest, most);
        while left > 0 {
            // Half of the programs have all accesses between two barriers.
            let count = match self.choices.chance(50) {
                true => left,
                false => self.choices.between(1, left),
            };
            self.choose_uses();
            for _ in 0..count {
                self.access();
            }
            self.barrier();
            left -= count;
        }
    }
}
