//! Writes the condition of a branch as an expression that was true when it was taken.
//!
//! ```text
//! %c = ULessThan %index %count, BranchConditional %c %in %out       on the way to %out: index >= count
//! ```
//!
//! Compilers turn `a && b` into a branch over `b` and a phi of Booleans; both forms are read. Where the phi must have come from
//! `b`, the operands of `b` reach the abort through phis beside it.

use super::condition::{Edge, cases};
use super::function::FunctionFlow;
use super::names::ValueNames;
use crate::analysis::index::typed::Node;
use crate::spv::op::storage_class;
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;
use vkabort_record::scalar::Scalar;

/// Deepest nesting of logical operations that is written out.
const MAX_DEPTH: u32 = 6;
/// Most cases of a switch that are named.
const MAX_CASES: usize = 6;

/// A condition that held.
#[derive(Debug, Default)]
pub(super) struct Predicate {
    pub(super) pieces: Vec<Piece>,
    /// Operands that the pieces name.
    pub(super) operands: Vec<(String, Operand)>,
}

/// A part of the text of a condition.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// An operand without a name.
    Value(Operand),
}

/// A value, and the phis that it needs on its way to the abort, first to last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) id: Id,
    pub(super) joins: SmallVec<[Join; 2]>,
}

/// The join of a short-circuit operation: a phi whose value came from `through`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Join {
    /// Label of its block.
    pub(super) block: Id,
    /// The predecessor that it came from.
    pub(super) through: Id,
    /// The predecessor that it did not come from.
    pub(super) around: Id,
}

/// How strongly a text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Comparison,
    Unary,
}

/// Writes predicates.
pub(super) struct Writer<'a, 'f, 'w> {
    pub(super) flow: &'a FunctionFlow<'f, 'w>,
    pub(super) names: &'a ValueNames<'f, 'w>,
    operands: Vec<(String, Operand)>,
    /// Joins between the abort and the part that is being written, nearest first.
    joins: Vec<Join>,
    /// Whether the part being written may not have been executed.
    is_unsure: bool,
}

type Written = (Vec<Piece>, Binding);

impl<'a, 'f, 'w> Writer<'a, 'f, 'w> {
    pub(super) fn new(flow: &'a FunctionFlow<'f, 'w>, names: &'a ValueNames<'f, 'w>) -> Self {
        Self {
            flow,
            names,
            operands: Vec::new(),
            joins: Vec::new(),
            is_unsure: false,
        }
    }

    /// The condition under which an edge is taken. `None` if nothing is known about it.
    pub(super) fn write(mut self, edge: &Edge<'w>) -> Option<Predicate> {
        let branch = &edge.branch;
        let pieces = match branch.opcode() {
            op::Switch => self.case(branch, edge.target),
            _ => {
                let held = branch.true_label() == edge.target;
                self.boolean(branch.condition(), held, MAX_DEPTH)?.0
            }
        };
        Some(Predicate {
            pieces,
            operands: self.operands,
        })
    }

    /// `kind == 3`; for the default `kind is none of 0, 1, 2`.
    fn case(&mut self, switch: &Inst<'w>, target: Id) -> Vec<Piece> {
        let ty = self.flow.index.type_of(switch.condition());
        let scalar = self.flow.index.scalar_type(ty);
        let literal = |bits| scalar.map_or_else(String::new, |ty| Scalar::from_bits(ty, bits).to_string());
        let is_default = switch.default_label() == target;
        let literals: Vec<String> = cases(self.flow, switch)
            .filter(|(_, label)| is_default || *label == target)
            .map(|(bits, _)| literal(bits))
            .collect();
        let mut pieces = self.operand(switch.condition());
        let text = match (is_default, literals.as_slice()) {
            (true, all) if all.len() <= MAX_CASES => format!(" is none of {}", all.join(", ")),
            (true, all) => format!(" is none of {} cases", all.len()),
            (false, [only]) => format!(" == {only}"),
            (false, all) if all.len() <= MAX_CASES => format!(" is one of {}", all.join(", ")),
            (false, all) => format!(" is one of {} cases", all.len()),
        };
        pieces.push(Piece::Text(text));
        pieces
    }

    /// A Boolean that was `held`.
    fn boolean(&mut self, id: Id, held: bool, depth: u32) -> Option<Written> {
        let inst = self.flow.index.def(id)?;
        let below = depth.checked_sub(1);
        // In an invalid module, values may form a cycle.
        let earlier = |id: Id| self.flow.index.def(id).is_some_and(|def| def.offset < inst.offset);
        let operands_are_earlier = || (3..inst.words.len()).all(|at| earlier(inst.id(at)));
        if let (Some(condition), Some(below)) = (self.number_of_boolean(&inst), below) {
            let (condition, is_same) = condition;
            return self.boolean(condition, is_same == held, below);
        }
        if let Some(symbol) = comparison(inst.opcode(), held) {
            return operands_are_earlier().then(|| self.compare(&inst, symbol));
        }
        match (inst.opcode(), below) {
            (op::LogicalNot, Some(below)) if operands_are_earlier() => self.boolean(inst.id(3), !held, below),
            (op::CopyObject, Some(below)) if operands_are_earlier() => self.boolean(inst.id(3), held, below),
            (op::LogicalAnd | op::LogicalOr, Some(below)) if operands_are_earlier() => {
                let is_and = inst.opcode() == op::LogicalAnd;
                let left = self.boolean(inst.id(3), held, below);
                let right = self.boolean(inst.id(4), held, below);
                Some(join(is_and == held, or_unknown(left), or_unknown(right)))
            }
            (op::LogicalEqual | op::LogicalNotEqual, _) if operands_are_earlier() => {
                let is_equal = (inst.opcode() == op::LogicalEqual) == held;
                Some(self.compare(&inst, if is_equal { "==" } else { "!=" }))
            }
            (op::Any | op::All, _) if operands_are_earlier() => {
                let function = if inst.opcode() == op::Any { "any" } else { "all" };
                let vector = self.flow.index.def(inst.id(3))?;
                // GLSL's comparison of whole vectors.
                let is_whole = match comparison(vector.opcode(), true) {
                    Some("==") => inst.opcode() == op::All,
                    Some("!=") => inst.opcode() == op::Any,
                    _ => false,
                };
                if is_whole && let Some(symbol) = comparison(vector.opcode(), held) {
                    return Some(self.compare(&vector, symbol));
                }
                let argument = match comparison(vector.opcode(), true) {
                    Some(symbol) => self.compare(&vector, symbol).0,
                    None => self.operand(inst.id(3)),
                };
                Some(call(function, argument, held))
            }
            (op::IsNan | op::IsInf, _) if operands_are_earlier() => {
                let function = if inst.opcode() == op::IsNan { "isnan" } else { "isinf" };
                let argument = self.operand(inst.id(3));
                Some(call(function, argument, held))
            }
            (op::Phi, Some(below)) => self.short_circuit(&inst, held, below).or_else(|| self.named(id, held)),
            (op::Load, Some(below)) => self.named(id, held).or_else(|| self.stored(&inst, held, below)),
            _ => self.named(id, held),
        }
    }

    /// The Boolean `c` in `(c ? 1 : 0) != 0`, and whether the comparison is equal to it.
    fn number_of_boolean(&self, inst: &Inst<'w>) -> Option<(Id, bool)> {
        let index = self.flow.index;
        let is_same = match inst.opcode() {
            op::INotEqual => true,
            op::IEqual => false,
            _ => return None,
        };
        let number = |id: Id| self.names.literal(id);
        let select = index
            .def(inst.id(3))
            .filter(|select| select.opcode() == op::Select && select.offset < inst.offset)?;
        let is_boolean = number(inst.id(4))? == "0" && number(select.id(4))? == "1" && number(select.id(5))? == "0";
        let condition = index
            .def(select.id(3))
            .filter(|condition| condition.offset < select.offset)?;
        is_boolean.then(|| (condition.result(), is_same))
    }

    /// A comparison with a symbol of [`comparison`].
    fn compare(&mut self, inst: &Inst<'w>, symbol: &str) -> Written {
        let (symbol, is_negated) = match symbol.strip_prefix('!') {
            Some(rest) if rest != "=" => (rest, true),
            _ => (symbol, false),
        };
        let mut pieces = self.operand(inst.id(3));
        pieces.push(Piece::Text(format!(" {symbol} ")));
        pieces.extend(self.operand(inst.id(4)));
        match is_negated {
            true => (enclosed("!(", pieces), Binding::Unary),
            false => (pieces, Binding::Comparison),
        }
    }

    /// A Boolean of its own: a variable, the result of a call.
    fn named(&mut self, id: Id, held: bool) -> Option<Written> {
        let name = self.names.value(id)?.text;
        let text = if held { name } else { format!("!{name}") };
        Some((vec![Piece::Text(text)], Binding::Unary))
    }

    /// `a && b` and `a || b` as a phi of two values, of which one skips the other.
    fn short_circuit(&mut self, phi: &Inst<'w>, held: bool, below: u32) -> Option<Written> {
        let block = self.flow.node_at(phi.offset)?;
        let pairs: SmallVec<[(Id, Id); 3]> = phi.phi_pairs().collect();
        let &[first, second] = pairs.as_slice() else {
            return None;
        };
        self.selected(block, phi.offset, [first, second], held, below)
    }

    /// The same as a load of a variable to which both predecessors of its block have stored, as Slang writes it.
    fn stored(&mut self, load: &Inst<'w>, held: bool, below: u32) -> Option<Written> {
        let (index, flow) = (self.flow.index, self.flow);
        let variable = load.pointer();
        let block = flow.node_at(load.offset)?;
        let &[first, second] = flow.predecessors(block) else {
            return None;
        };
        let is_variable = index.opcode(variable) == op::Variable
            && index.storage_class(index.type_of(variable)) == Some(storage_class::Function);
        if !is_variable || load.load_access() != 0 {
            return None;
        }
        let mut pairs: SmallVec<[(Id, Id); 3]> = SmallVec::new();
        for inst in index.insts(flow.function.offset, flow.function.end) {
            match inst.opcode() {
                op::Store if inst.pointer() == variable => {
                    let at = flow.node_at(inst.offset)?;
                    let label = flow.block(at).filter(|_| at == first || at == second)?.label;
                    pairs.push((inst.stored_value(), label));
                }
                op::Variable | op::Load | op::ExtInst => {}
                _ if inst.ids(1).any(|id| id == variable) => return None,
                _ => {}
            }
        }
        let &[one, other] = pairs.as_slice() else {
            return None;
        };
        (one.1 != other.1).then(|| self.selected(block, load.offset, [one, other], held, below))?
    }

    /// A Boolean that is one of two values by the predecessor of `block`, if one of them is constant there.
    fn selected(
        &mut self,
        block: Node,
        offset: usize,
        pairs: [(Id, Id); 2],
        held: bool,
        below: u32,
    ) -> Option<Written> {
        let (index, flow) = (self.flow.index, self.flow);
        let before = flow.dominators.parent(block)?;
        let branch = index.terminator(flow.block(before)?);
        if branch.opcode() != op::BranchConditional {
            return None;
        }
        let label = flow.block(block)?.label;
        // The outcome of the branch that leads to a predecessor.
        let outcome = |predecessor: Id| {
            let node = flow.node_of_label(predecessor)?;
            let leads = |to: Id| match node == before {
                true => to == label,
                false => {
                    to != label
                        && flow
                            .node_of_label(to)
                            .is_some_and(|to| flow.dominators.dominates(to, node))
                }
            };
            match (leads(branch.true_label()), leads(branch.false_label())) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            }
        };
        // glslang branches on the negated left operand of `||`.
        let condition = branch.condition();
        let negated = index.def(condition).filter(|inst| inst.opcode() == op::LogicalNot);
        let constant = |value: Id, outcome: bool| match index.opcode(value) {
            op::ConstantTrue => Some(true),
            op::ConstantFalse => Some(false),
            _ if value == condition => Some(outcome),
            _ if negated.is_some_and(|inst| inst.id(3) == value) => Some(!outcome),
            _ => None,
        };
        let is_later = |id: Id| index.def(id).is_none_or(|def| def.offset >= offset);
        let [first, second] = pairs;
        [(first, second), (second, first)]
            .into_iter()
            .find_map(|((short, around), (long, through))| {
                let skipped = outcome(around)?;
                let skips_with = constant(short, skipped)?;
                if outcome(through)? == skipped || is_later(long) || is_later(condition) {
                    return None;
                }
                let is_and = !skips_with;
                let left_is = if is_and { !skipped } else { skipped };
                let left = self.boolean(condition, left_is == held, below);
                // Only then has the right operand been computed.
                let was_unsure = self.is_unsure;
                self.is_unsure |= held != is_and;
                self.joins.push(Join {
                    block: label,
                    through,
                    around,
                });
                let right = self.boolean(long, held, below);
                self.joins.pop();
                self.is_unsure = was_unsure;
                Some(join(is_and == held, or_unknown(left), or_unknown(right)))
            })
    }

    /// An operand of a comparison: a constant, a name whose value follows, or a value.
    fn operand(&mut self, id: Id) -> Vec<Piece> {
        if let Some(literal) = self.names.literal(id) {
            return vec![Piece::Text(literal)];
        }
        let operand = self.operand_at_abort(id);
        let Some(name) = self.names.value(id) else {
            return vec![match operand {
                Some(operand) => Piece::Value(operand),
                None => Piece::Text("..".to_owned()),
            }];
        };
        if let Some(operand) = operand
            && !self.operands.iter().any(|(_, other)| *other == operand)
        {
            self.operands.push((name.text.clone(), operand));
        }
        vec![Piece::Text(name.text)]
    }

    /// How a value reaches the abort.
    fn operand_at_abort(&self, id: Id) -> Option<Operand> {
        let mut joins = SmallVec::new();
        // From the innermost join outwards.
        for join in self.joins.iter().rev() {
            let node = self.flow.node_of_label(join.block)?;
            if joins.is_empty() && self.flow.reaches(id, node) {
                continue;
            }
            let through = self.flow.node_of_label(join.through)?;
            let is_defined = match joins.last() {
                None => self.flow.reaches(id, through),
                Some(Join { block, .. }) => {
                    let block = self.flow.node_of_label(*block)?;
                    self.flow.dominators.dominates(block, through)
                }
            };
            if self.is_unsure || !is_defined {
                return None;
            }
            joins.push(*join);
        }
        Some(Operand { id, joins })
    }
}

fn or_unknown(written: Option<Written>) -> Written {
    written.unwrap_or_else(|| (vec![Piece::Text("..".to_owned())], Binding::Unary))
}

/// `left && right`, or `left || right`.
fn join(is_and: bool, left: Written, right: Written) -> Written {
    let (binding, symbol) = if is_and {
        (Binding::And, " && ")
    } else {
        (Binding::Or, " || ")
    };
    let enclose =
        |(pieces, of_part): Written| match of_part < binding || (of_part != binding && of_part < Binding::Comparison) {
            true => enclosed("(", pieces),
            false => pieces,
        };
    let mut pieces = enclose(left);
    pieces.push(Piece::Text(symbol.to_owned()));
    pieces.extend(enclose(right));
    (pieces, binding)
}

fn enclosed(open: &str, pieces: Vec<Piece>) -> Vec<Piece> {
    let open = Piece::Text(open.to_owned());
    let close = Piece::Text(")".to_owned());
    std::iter::once(open).chain(pieces).chain([close]).collect()
}

fn call(function: &str, argument: Vec<Piece>, held: bool) -> Written {
    let not = if held { "" } else { "!" };
    (enclosed(&format!("{not}{function}("), argument), Binding::Unary)
}

/// The symbol of a comparison that was `held`. `!` in front of one: it was false, which no other comparison of floats says
/// because of NaN.
fn comparison(opcode: u16, held: bool) -> Option<&'static str> {
    let [yes, no] = match opcode {
        op::IEqual | op::FOrdEqual => ["==", "!="],
        op::INotEqual | op::FUnordNotEqual => ["!=", "=="],
        op::FUnordEqual => ["==", "!="],
        op::FOrdNotEqual => ["!=", "=="],
        op::UGreaterThan | op::SGreaterThan => [">", "<="],
        op::UGreaterThanEqual | op::SGreaterThanEqual => [">=", "<"],
        op::ULessThan | op::SLessThan => ["<", ">="],
        op::ULessThanEqual | op::SLessThanEqual => ["<=", ">"],
        op::FOrdLessThan => ["<", "!<"],
        op::FOrdGreaterThan => [">", "!>"],
        op::FOrdLessThanEqual => ["<=", "!<="],
        op::FOrdGreaterThanEqual => [">=", "!>="],
        op::FUnordLessThan => ["!>=", ">="],
        op::FUnordGreaterThan => ["!<=", "<="],
        op::FUnordLessThanEqual => ["!>", ">"],
        op::FUnordGreaterThanEqual => ["!<", "<"],
        _ => return None,
    };
    Some(if held { yes } else { no })
}
