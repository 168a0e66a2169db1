//! Writes the condition of a branch as an expression that was true when it was taken.
//!
//! ```text
//! %c = ULessThan %index %count, BranchConditional %c %in %out       on the way to %out: index >= count
//! ```
//!
//! Compilers turn `a && b` into a branch over `b` and a phi of Booleans; both forms are read. Where the phi must have come from
//! `b`, the operands of `b` reach the abort through phis beside it.

mod short_circuit;
mod text;

use super::condition::{Edge, cases};
use super::message::is_same;
use smallvec::SmallVec;
use text::{Binding, ConditionText, call, comparison, enclosed, join, or_unknown};
pub(super) use text::{Join, Operand, Piece, Predicate};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::view::FunctionView;
use vkabort_record::scalar::Scalar;
use vkabort_spirv::{Id, Inst, op};

/// Deepest nesting of logical operations that is written out.
const MAX_DEPTH: u32 = 6;
/// Most cases of a switch that are named.
const MAX_CASES: usize = 6;

/// Writes predicates.
pub(super) struct Writer<'a, 'f, 'w> {
    pub(super) flow: &'a FunctionView<'f, 'w>,
    pub(super) names: &'a Expressions<'f, 'w>,
    operands: Vec<(String, Operand)>,
    /// Joins between the abort and the part that is being written, nearest first.
    joins: Vec<Join>,
    /// Whether the part being written may not have been executed.
    is_unsure: bool,
}

impl<'a, 'f, 'w> Writer<'a, 'f, 'w> {
    pub(super) fn new(flow: &'a FunctionView<'f, 'w>, names: &'a Expressions<'f, 'w>) -> Self {
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
                let was_true = branch.true_label() == edge.target;
                self.boolean(branch.condition(), was_true, MAX_DEPTH)?.0
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

    /// The text of a Boolean that was true, or was false.
    fn boolean(&mut self, id: Id, was_true: bool, depth: u32) -> Option<ConditionText> {
        let inst = self.flow.index.def(id)?;
        let below = depth.checked_sub(1);
        // In an invalid module, values may form a cycle.
        let earlier = |id: Id| self.flow.index.def(id).is_some_and(|def| def.offset < inst.offset);
        let operands_are_earlier = || (3..inst.words.len()).all(|at| earlier(inst.id(at)));
        if let (Some(condition), Some(below)) = (self.number_of_boolean(&inst), below) {
            let (condition, is_same) = condition;
            return self.boolean(condition, is_same == was_true, below);
        }
        if let Some(symbol) = comparison(inst.opcode(), was_true) {
            return operands_are_earlier().then(|| self.compare(&inst, symbol));
        }
        match (inst.opcode(), below) {
            (op::LogicalNot, Some(below)) if operands_are_earlier() => self.boolean(inst.id(3), !was_true, below),
            (op::CopyObject, Some(below)) if operands_are_earlier() => self.boolean(inst.id(3), was_true, below),
            (op::LogicalAnd | op::LogicalOr, Some(below)) if operands_are_earlier() => {
                let is_and = inst.opcode() == op::LogicalAnd;
                let left = self.boolean(inst.id(3), was_true, below);
                let right = self.boolean(inst.id(4), was_true, below);
                Some(join(is_and == was_true, or_unknown(left), or_unknown(right)))
            }
            (op::ConstantTrue | op::ConstantFalse, _) => {
                let value = (inst.opcode() == op::ConstantTrue) == was_true;
                Some((vec![Piece::Boolean(value)], Binding::Unary))
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
                if is_whole && let Some(symbol) = comparison(vector.opcode(), was_true) {
                    return Some(self.compare(&vector, symbol));
                }
                let argument = match comparison(vector.opcode(), true) {
                    Some(symbol) => self.compare(&vector, symbol).0,
                    None => self.operand(inst.id(3)),
                };
                Some(call(function, argument, was_true))
            }
            (op::IsNan | op::IsInf, _) if operands_are_earlier() => {
                let function = if inst.opcode() == op::IsNan { "isnan" } else { "isinf" };
                let argument = self.operand(inst.id(3));
                Some(call(function, argument, was_true))
            }
            (op::Phi, Some(below)) => self
                .short_circuit(&inst, was_true, below)
                .or_else(|| self.named(id, was_true)),
            (op::Load, Some(below)) => self.named(id, was_true).or_else(|| self.stored(&inst, was_true, below)),
            _ => self.named(id, was_true),
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
    fn compare(&mut self, inst: &Inst<'w>, symbol: &str) -> ConditionText {
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
    fn named(&mut self, id: Id, was_true: bool) -> Option<ConditionText> {
        let name = self.names.value(id)?.text;
        let text = if was_true { name } else { format!("!{name}") };
        Some((vec![Piece::Text(text)], Binding::Unary))
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
            && !self
                .operands
                .iter()
                .any(|(of, other)| *other == operand || *of == name.text && is_same(self.flow, other.id, operand.id))
        {
            self.operands.push((name.text.clone(), operand));
        }
        vec![Piece::Text(name.compared())]
    }

    /// How a value reaches the abort.
    fn operand_at_abort(&self, id: Id) -> Option<Operand> {
        let mut joins = SmallVec::new();
        // From the innermost join outwards.
        for join in self.joins.iter().rev() {
            let flow = self.flow;
            let block = flow.block_of_label(join.block)?;
            if joins.is_empty() && flow.reaches(id, block) {
                continue;
            }
            let through = flow.block_of_label(join.through)?;
            let is_defined = match joins.last() {
                None => flow.reaches(id, through),
                Some(Join { block, .. }) => flow.graph.dominates(flow.block_of_label(*block)?, through),
            };
            if self.is_unsure || !is_defined {
                return None;
            }
            joins.push(*join);
        }
        Some(Operand { id, joins })
    }
}
