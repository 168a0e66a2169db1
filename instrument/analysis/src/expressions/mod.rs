//! Values and pointers as expressions of their source: `OpName`, debug information, the expression that loaded them, small
//! arithmetic.
//!
//! ```text
//! Load of AccessChain %block 0 %i     words[i]
//! CompositeExtract %velocity 1        velocity.y
//! ```

mod conversions;
mod described;
mod memory;
mod vocabulary;

use described::names_of_values;
use rustc_hash::FxHashMap as HashMap;
use vkabort_record::scalar::Scalar;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::names::Names;
use vkabort_spirv::op_sets::is_atomic_read;
use vkabort_spirv::{Id, Inst, op};
use vocabulary::{atomic_function, function, glsl_function, is_made_up, operator, prefix};

/// Most operations in an expression, one inside the other.
const MAX_DEPTH: u32 = 3;
/// Longest expression, in bytes.
const MAX_LENGTH: usize = 80;

/// Names of the components of vectors.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Names the values and pointers of a module.
pub struct Expressions<'a, 'w> {
    pub index: &'a Index<'w>,
    pub names: Names,
    glsl: Vec<Id>,
    /// Names from debug information.
    described: HashMap<Id, String>,
}

/// An expression in the language of the source.
#[derive(Clone, Debug)]
pub struct Expression {
    pub text: String,
    /// The operator outside parentheses.
    operator: Option<u16>,
}

impl Expression {
    fn simple(text: String) -> Self {
        let operator = None;
        Self { text, operator }
    }

    /// The text as an operand of an operator.
    fn operand(&self) -> String {
        match self.operator {
            Some(_) => format!("({})", self.text),
            None => self.text.clone(),
        }
    }

    /// The text as an operand of a comparison, which binds more closely than `&`, `^` and `|`.
    pub fn compared(self) -> String {
        match self.operator {
            Some(op::BitwiseAnd | op::BitwiseOr | op::BitwiseXor) => self.operand(),
            _ => self.text,
        }
    }
}

impl<'a, 'w> Expressions<'a, 'w> {
    pub fn new(index: &'a Index<'w>) -> Self {
        Self {
            index,
            names: Names::new(index),
            glsl: index.sets("GLSL.std.450"),
            described: names_of_values(index),
        }
    }

    /// An expression for a value. `None` if nothing in the module names it.
    pub fn value(&self, id: Id) -> Option<Expression> {
        self.describe(id, MAX_DEPTH)
            .filter(|name| name.text.len() <= MAX_LENGTH)
    }

    /// An expression for a component of a vector, or for a scalar.
    pub fn component(&self, id: Id, component: Option<u32>) -> Option<String> {
        let Some(number) = component else {
            return self.value(id).map(|value| value.text);
        };
        if let Some(vector) = self.index.def(id).filter(|inst| inst.opcode() == op::ConstantComposite) {
            return self.literal(vector.ids(3).nth(number as usize)?);
        }
        let name = COMPONENTS.get(number as usize)?;
        Some(format!("{}.{name}", self.value(id)?.operand()))
    }

    /// An expression for the memory that a pointer points to, without the last `left_out` indices.
    pub fn memory(&self, pointer: Id, left_out: usize) -> Option<String> {
        self.pointer(pointer, left_out, MAX_DEPTH)
            .filter(|text| text.len() <= MAX_LENGTH)
    }

    /// An expression for a part of the memory that a pointer points to, which has the type `ty`.
    pub fn memory_part(&self, pointer: Id, ty: Id, path: &[u32]) -> Option<String> {
        self.part(self.memory(pointer, 0)?, ty, path, MAX_DEPTH)
    }

    /// The name of a variable or parameter, without those that compilers make up.
    pub fn variable(&self, id: Id) -> Option<String> {
        let name = self.names.name(self.index, id)?;
        (!is_made_up(&name, self.index.generator())).then_some(name)
    }

    /// A constant as the source would write it.
    pub fn literal(&self, id: Id) -> Option<String> {
        let inst = self.index.def(id)?;
        let is_vector = self.index.opcode(inst.result_type()) == op::TypeVector;
        if inst.opcode() != op::ConstantComposite || !is_vector {
            return self.scalar_literal(id);
        }
        let parts: Vec<String> = inst
            .ids(3)
            .map(|part| self.scalar_literal(part))
            .collect::<Option<_>>()?;
        Some(format!("({})", parts.join(", ")))
    }

    fn scalar_literal(&self, id: Id) -> Option<String> {
        let inst = self.index.def(id)?;
        match inst.opcode() {
            op::ConstantTrue => Some("true".to_owned()),
            op::ConstantFalse => Some("false".to_owned()),
            op::Constant => {
                let scalar = self.index.scalar_type(inst.result_type())?;
                Some(Scalar::from_bits(scalar, inst.constant_bits()).to_string())
            }
            op::ConstantNull => {
                let scalar = self.index.scalar_type(inst.result_type())?;
                Some(Scalar::from_bits(scalar, 0).to_string())
            }
            _ => None,
        }
    }

    fn describe(&self, id: Id, depth: u32) -> Option<Expression> {
        if let Some(name) = self.variable(id) {
            return Some(Expression::simple(name));
        }
        let inst = self.index.def(id)?;
        if let Some(literal) = self.literal(id) {
            return Some(Expression::simple(literal));
        }
        if let Some(name) = self.described.get(&id) {
            return Some(Expression::simple(name.clone()));
        }
        self.operation(&inst, depth)
    }

    /// An expression for an operand. Copies and operations are defined after their operands, but for phis, which are not
    /// followed.
    fn operand(&self, inst: &Inst<'_>, at: usize, depth: u32) -> Option<Expression> {
        let id = inst.id(at);
        self.index.def(id).filter(|def| def.offset < inst.offset)?;
        self.describe(id, depth)
    }

    /// An expression for the result of an instruction.
    fn operation(&self, inst: &Inst<'_>, depth: u32) -> Option<Expression> {
        let below = depth.checked_sub(1);
        let simple = Expression::simple;
        match inst.opcode() {
            op::Load => self.pointer(inst.pointer(), 0, depth).map(simple),
            op::CopyObject | op::CopyLogical | op::Image | op::SampledImage => self.operand(inst, 3, depth),
            op::ConvertFToU..=op::FConvert | op::Bitcast => match (self.cast_back(inst), self.conversion(inst)) {
                (Some(original), _) => self.describe(original, below?),
                (None, Some(function)) => self.call(inst, &function, std::iter::once(3), below?),
                (None, None) => self.operand(inst, 3, depth),
            },
            op::CompositeExtract => {
                let base = self.operand(inst, 3, depth)?.operand();
                let ty = self.index.type_of(inst.id(3));
                self.part(base, ty, inst.from(4), depth).map(simple)
            }
            op::ArrayLength => self.array_length(inst, depth),
            op::VectorShuffle if inst.id(3) == inst.id(4) => {
                let component = |at: &u32| COMPONENTS.get(*at as usize).copied();
                let swizzle: String = inst.from(5).iter().map(component).collect::<Option<_>>()?;
                let vector = self.operand(inst, 3, depth)?.operand();
                Some(simple(format!("{vector}.{swizzle}")))
            }
            op::FunctionCall => {
                let name = self.names.function(self.index, inst.callee());
                (!name.starts_with('%')).then(|| simple(format!("{name}(..)")))
            }
            op::ExtInst if self.glsl.contains(&inst.ext_inst_set()) => {
                let name = glsl_function(inst.ext_inst())?;
                self.call(inst, name, 5..inst.words.len(), below?)
            }
            opcode if is_atomic_read(opcode) => {
                let memory = self.pointer(inst.id(3), 0, depth)?;
                Some(simple(match opcode {
                    op::AtomicLoad => memory,
                    _ => format!("{}({memory}, ..)", atomic_function(opcode)?),
                }))
            }
            opcode => match (function(opcode), prefix(opcode)) {
                (Some((name, operands)), _) => self.call(inst, name, operands.iter().copied(), below?),
                (None, Some(symbol)) => {
                    let operand = self.operand(inst, 3, below?)?;
                    Some(simple(format!("{symbol}{}", operand.operand())))
                }
                (None, None) => {
                    let symbol = operator(opcode)?;
                    let [left, right] = [self.operand(inst, 3, below?)?, self.operand(inst, 4, below?)?];
                    let text = format!("{} {symbol} {}", left.operand(), right.operand());
                    let operator = Some(opcode);
                    Some(Expression { text, operator })
                }
            },
        }
    }

    fn array_length(&self, inst: &Inst<'_>, depth: u32) -> Option<Expression> {
        let (pointer, member) = (inst.id(3), inst.word(4));
        let base = self.pointer(pointer, 0, depth)?;
        let array = self.part(base, self.pointee(pointer)?, &[member], depth)?;
        Some(Expression::simple(format!("{array}.length()")))
    }

    /// The call of a function with some operands of an instruction.
    fn call(
        &self,
        inst: &Inst<'_>,
        function: &str,
        operands: impl Iterator<Item = usize>,
        depth: u32,
    ) -> Option<Expression> {
        let arguments = operands.map(|at| Some(self.operand(inst, at, depth)?.text));
        let arguments: Vec<String> = arguments.collect::<Option<_>>()?;
        Some(Expression::simple(format!("{function}({})", arguments.join(", "))))
    }
}
