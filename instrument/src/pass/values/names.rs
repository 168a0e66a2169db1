//! Names of values: `OpName`, the expression that loaded them, small arithmetic.

use super::debug_values::names_of_values;
use crate::analysis::index::Index;
use crate::analysis::index::names::Names;
use crate::spv::op::{decoration, storage_class};
use crate::spv::op_sets::is_untyped_chain;
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;
use vkabort_record::scalar::Scalar;

/// Most operations in an expression, one inside the other.
const MAX_DEPTH: u32 = 3;
/// Longest expression, in bytes.
const MAX_LENGTH: usize = 80;

/// Names the values of a module.
pub(super) struct ValueNames<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) names: &'a Names,
    glsl: Vec<Id>,
    /// Names from debug information.
    described: HashMap<Id, String>,
}

/// An expression in the language of the source.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    /// Whether it has an operator outside parentheses.
    is_compound: bool,
}

impl Expression {
    fn simple(text: String) -> Self {
        let is_compound = false;
        Self { text, is_compound }
    }

    /// The text as an operand of an operator.
    fn operand(&self) -> String {
        match self.is_compound {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }
}

impl<'a, 'w> ValueNames<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, names: &'a Names) -> Self {
        Self {
            index,
            names,
            glsl: index.sets("GLSL.std.450"),
            described: names_of_values(index),
        }
    }

    /// An expression for a value. `None` if nothing in the module names it.
    pub(super) fn value(&self, id: Id) -> Option<Expression> {
        self.describe(id, MAX_DEPTH)
            .filter(|name| name.text.len() <= MAX_LENGTH)
    }

    /// The name of a variable or parameter, without those that compilers make up.
    pub(super) fn variable(&self, id: Id) -> Option<String> {
        let name = self.names.name(self.index, id)?;
        (!is_made_up(&name)).then_some(name)
    }

    /// A constant as the source would write it.
    pub(super) fn literal(&self, id: Id) -> Option<String> {
        let inst = self.index.def(id)?;
        let ty = self.index.def(inst.result_type())?;
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
            op::ConstantComposite if ty.opcode() == op::TypeVector => {
                let parts: Vec<String> = inst.ids(3).map(|part| self.literal(part)).collect::<Option<_>>()?;
                Some(format!("({})", parts.join(", ")))
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
        // Copies and operations are defined after their operands, but for phis, which are not followed.
        let operand = |at: usize, depth| {
            let id = inst.id(at);
            self.index.def(id).filter(|def| def.offset < inst.offset)?;
            self.describe(id, depth)
        };
        let below = depth.checked_sub(1);
        match inst.opcode() {
            op::Load => self.pointer(inst.pointer(), depth).map(Expression::simple),
            op::CopyObject | op::CopyLogical | op::Bitcast | op::UConvert | op::SConvert | op::FConvert => {
                operand(3, depth)
            }
            op::ConvertSToF | op::ConvertUToF => self.call("float", &[operand(3, below?)?]),
            op::ConvertFToS => self.call("int", &[operand(3, below?)?]),
            op::ConvertFToU => self.call("uint", &[operand(3, below?)?]),
            op::CompositeExtract => {
                let base = operand(3, depth)?;
                let path = inst.from(4).iter().map(|index| Step::Literal(*index));
                self.path(base.operand(), self.index.type_of(inst.id(3)), path, depth)
                    .map(Expression::simple)
            }
            op::ArrayLength => {
                let (pointer, member) = (inst.id(3), inst.word(4));
                let base = self.pointer(pointer, depth)?;
                let structure = self.pointee(pointer)?;
                let array = self.path(base, structure, [Step::Literal(member)].into_iter(), depth)?;
                Some(Expression::simple(format!("{array}.length()")))
            }
            op::SNegate | op::FNegate => Some(Expression::simple(format!("-{}", operand(3, below?)?.operand()))),
            op::Not => Some(Expression::simple(format!("~{}", operand(3, below?)?.operand()))),
            op::ExtInst if self.glsl.contains(&inst.ext_inst_set()) => {
                let name = glsl_function(inst.ext_inst())?;
                let arguments: Vec<Expression> = (5..inst.words.len())
                    .map(|at| operand(at, below?))
                    .collect::<Option<_>>()?;
                self.call(name, &arguments)
            }
            op::Dot => self.call("dot", &[operand(3, below?)?, operand(4, below?)?]),
            op::FunctionCall => {
                let name = self.names.function(self.index, inst.callee());
                (!name.starts_with('%')).then(|| Expression::simple(format!("{name}(..)")))
            }
            opcode => {
                let symbol = operator(opcode)?;
                let (left, right) = (operand(3, below?)?, operand(4, below?)?);
                let text = format!("{} {symbol} {}", left.operand(), right.operand());
                let is_compound = true;
                Some(Expression { text, is_compound })
            }
        }
    }

    fn call(&self, function: &str, arguments: &[Expression]) -> Option<Expression> {
        let arguments: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        Some(Expression::simple(format!("{function}({})", arguments.join(", "))))
    }

    /// The memory that a pointer points to: `words[i]`, `pc.count`.
    fn pointer(&self, id: Id, depth: u32) -> Option<String> {
        let inst = self.index.def(id)?;
        match inst.opcode() {
            op::Variable | op::FunctionParameter | op::UntypedVariableKHR => self.root(&inst),
            op::CopyObject => {
                let from = inst.id(3);
                self.index.def(from).filter(|def| def.offset < inst.offset)?;
                self.pointer(from, depth)
            }
            op::AccessChain | op::InBoundsAccessChain => {
                let base = inst.id(3);
                self.index.def(base).filter(|def| def.offset < inst.offset)?;
                let name = self.pointer(base, depth)?;
                let ty = self.pointee(base)?;
                self.path(name, ty, inst.ids(4).map(Step::Value), depth)
            }
            opcode if is_untyped_chain(opcode) => {
                let (ty, base) = (inst.id(3), inst.id(4));
                self.index.def(base).filter(|def| def.offset < inst.offset)?;
                let name = self.pointer(base, depth)?;
                self.path(name, ty, inst.ids(5).map(Step::Value), depth)
            }
            // A pointer that was loaded: a buffer reference.
            op::Load => self.pointer(inst.pointer(), depth),
            _ => None,
        }
    }

    /// The name of a variable or parameter; empty for a block whose members are named alone.
    fn root(&self, variable: &Inst<'_>) -> Option<String> {
        let id = variable.result();
        let class = self.index.storage_class(variable.result_type());
        if let Some(name) = self.names.name(self.index, id) {
            return (!is_made_up(&name)).then_some(name);
        }
        if class == Some(storage_class::Input)
            && let Some(built_in) = self.index.decoration(id, decoration::BuiltIn)
        {
            return built_in_name(built_in).map(str::to_owned);
        }
        let is_block = matches!(
            class,
            Some(storage_class::PushConstant | storage_class::Uniform | storage_class::StorageBuffer)
        );
        let names_members = || {
            let block = self.index.under_arrays(self.pointee(id)?);
            self.names.member(self.index, block, 0)
        };
        (is_block && names_members().is_some()).then(String::new)
    }

    fn pointee(&self, pointer: Id) -> Option<Id> {
        let ty = self.index.def(self.index.type_of(pointer))?;
        (ty.opcode() == op::TypePointer).then(|| ty.pointee())
    }

    /// A part of `base`, which has the type `ty`.
    fn path(&self, base: String, ty: Id, indices: impl Iterator<Item = Step>, depth: u32) -> Option<String> {
        let (mut text, mut ty) = (base, ty);
        for index in indices {
            let number = match index {
                Step::Literal(number) => Some(number),
                Step::Value(id) => self.index.def(id).and_then(|inst| match inst.opcode() {
                    op::Constant => self.index.literal(&inst).and_then(|value| u32::try_from(value).ok()),
                    _ => None,
                }),
            };
            let of = self.index.def(ty)?;
            match (of.opcode(), number) {
                (op::TypeStruct, Some(number)) => {
                    let member = self.names.member(self.index, ty, number)?;
                    // The only member of a block that its variable names: Slang's and DXC's buffers.
                    let is_hidden = of.words.len() == 3 && member.starts_with(['_', '@', '$']) && !text.is_empty();
                    match (is_hidden, text.is_empty()) {
                        (true, _) => {}
                        (false, true) => text = member,
                        (false, false) => text = format!("{text}.{member}"),
                    }
                }
                (op::TypeVector, Some(number)) => {
                    let component = ["x", "y", "z", "w"].get(number as usize)?;
                    text = format!("{text}.{component}");
                }
                (_, Some(number)) => text = format!("{text}[{number}]"),
                (_, None) => {
                    let Step::Value(id) = index else { return None };
                    let index = self.describe(id, depth.checked_sub(1)?);
                    let index = index.map_or_else(|| "..".to_owned(), |index| index.text);
                    text = format!("{text}[{index}]");
                }
            }
            ty = self.index.part_type(ty, number.unwrap_or(0));
        }
        (!text.is_empty() && text.len() <= MAX_LENGTH).then_some(text)
    }
}

/// An index into a composite.
#[derive(Clone, Copy)]
enum Step {
    Literal(u32),
    Value(Id),
}

/// Names that compilers give to their own variables.
fn is_made_up(name: &str) -> bool {
    let generated = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.is_empty()
        || matches!(generated, "param" | "_" | "%" | "indexable" | "tmp" | "temp")
        || name.starts_with("_dbgvar_")
}

fn operator(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        op::IAdd | op::FAdd => "+",
        op::ISub | op::FSub => "-",
        op::IMul | op::FMul | op::VectorTimesScalar => "*",
        op::UDiv | op::SDiv | op::FDiv => "/",
        op::UMod | op::SMod | op::SRem => "%",
        op::BitwiseAnd => "&",
        op::BitwiseOr => "|",
        op::BitwiseXor => "^",
        op::ShiftLeftLogical => "<<",
        op::ShiftRightLogical | op::ShiftRightArithmetic => ">>",
        _ => return None,
    })
}

/// Functions of `GLSL.std.450` by number.
fn glsl_function(number: u32) -> Option<&'static str> {
    Some(match number {
        1 => "round",
        3 => "trunc",
        4 | 5 => "abs",
        6 | 7 => "sign",
        8 => "floor",
        9 => "ceil",
        10 => "fract",
        13 => "sin",
        14 => "cos",
        26 => "pow",
        27 => "exp",
        28 => "log",
        29 => "exp2",
        30 => "log2",
        31 => "sqrt",
        32 => "inversesqrt",
        33 => "determinant",
        37..=39 => "min",
        40..=42 => "max",
        43..=45 => "clamp",
        46 => "mix",
        66 => "length",
        67 => "distance",
        68 => "cross",
        69 => "normalize",
        _ => return None,
    })
}

/// Names of built-ins in GLSL.
fn built_in_name(built_in: u32) -> Option<&'static str> {
    use spirv::BuiltIn;
    const NAMES: [(BuiltIn, &str); 14] = [
        (BuiltIn::GlobalInvocationId, "gl_GlobalInvocationID"),
        (BuiltIn::LocalInvocationId, "gl_LocalInvocationID"),
        (BuiltIn::LocalInvocationIndex, "gl_LocalInvocationIndex"),
        (BuiltIn::WorkgroupId, "gl_WorkGroupID"),
        (BuiltIn::NumWorkgroups, "gl_NumWorkGroups"),
        (BuiltIn::VertexIndex, "gl_VertexIndex"),
        (BuiltIn::InstanceIndex, "gl_InstanceIndex"),
        (BuiltIn::FragCoord, "gl_FragCoord"),
        (BuiltIn::FrontFacing, "gl_FrontFacing"),
        (BuiltIn::PrimitiveId, "gl_PrimitiveID"),
        (BuiltIn::InvocationId, "gl_InvocationID"),
        (BuiltIn::SampleId, "gl_SampleID"),
        (BuiltIn::LaunchIdKHR, "gl_LaunchIDEXT"),
        (BuiltIn::LaunchSizeKHR, "gl_LaunchSizeEXT"),
    ];
    let found = NAMES.iter().find(|(number, _)| *number as u32 == built_in);
    found.map(|(_, name)| *name)
}
