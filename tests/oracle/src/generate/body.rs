//! Body of one function: scope, cost budget and random statements.

use super::globals::Globals;
use super::options::GeneratorOptions;
use super::signature::{Callee, Kind, Parameter, Returns};
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, execution_model, storage_class as class};
use crate::words::push;
use std::ops::{Deref, DerefMut};
use vkabort_spirv_builder::Builder;

/// Values whose definitions dominate the insertion point.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) uints: Vec<Id>,
    pub(super) bools: Vec<Id>,
    pub(super) uvec4s: Vec<Id>,
    pub(super) pairs: Vec<Id>,
    /// Pointers to `uint`.
    pub(super) pointers: Vec<Id>,
}

/// A loop around the insertion point.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) merge: Id,
    pub(super) target: Id,
    /// Incoming values and blocks of the phi in the merge block.
    pub(super) breaks: Vec<(Id, Id)>,
    /// Same for the continue target.
    pub(super) continues: Vec<(Id, Id)>,
}

pub(super) struct Body<'a> {
    pub(super) globals: &'a mut Globals,
    pub(super) choices: &'a mut Choices,
    pub(super) options: GeneratorOptions,
    pub(super) code: Vec<u32>,
    /// (pointer type, id, initialiser) of variables of class Function.
    pub(super) variables: Vec<[Id; 3]>,
    /// Variables that calls can pass as arguments.
    pub(super) locals: Vec<Id>,
    pub(super) label: Id,
    /// The current block has no terminator yet.
    pub(super) open: bool,
    pub(super) scope: Scope,
    /// Enclosing loops, innermost last; `None` for a continue construct, which is left only through its back edge.
    pub(super) loops: Vec<Option<Loop>>,
    pub(super) returns: Returns,
    /// Maximum number of executions of the current code.
    pub(super) times: u32,
    pub(super) cost: u32,
    budget: u32,
    output: Option<Id>,
    fragment: bool,
    /// The message is constructed outside the block of its abort.
    pub(super) early: bool,
    /// Number of arrays around the current part of a message.
    pub(super) arrays: u32,
}

impl Deref for Body<'_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.globals.builder
    }
}

impl DerefMut for Body<'_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.globals.builder
    }
}

impl<'a> Body<'a> {
    /// Generates a function and adds it to the module.
    pub(super) fn function(
        globals: &'a mut Globals,
        choices: &'a mut Choices,
        options: GeneratorOptions,
        kind: Kind,
        budget: u32,
    ) {
        let (returns, parameters, entry) = match &kind {
            Kind::Callee { returns, parameters } => (*returns, parameters.clone(), None),
            Kind::Entry { function, .. } => (Returns::Void, Vec::new(), Some(*function)),
        };
        let builder = &mut globals.builder;
        let function = entry.unwrap_or_else(|| builder.fresh());
        let label = builder.fresh();
        let mut body = Body {
            globals,
            choices,
            options,
            code: Vec::new(),
            variables: Vec::new(),
            locals: Vec::new(),
            label,
            open: true,
            scope: Scope::default(),
            loops: Vec::new(),
            returns,
            times: 1,
            cost: 10,
            budget,
            output: None,
            fragment: false,
            early: false,
            arrays: 0,
        };
        let mut head = Vec::new();
        let types: Vec<Id> = parameters.iter().map(|p| body.parameter_type(*p)).collect();
        let result = body.type_of(returns);
        let ty = body.ty(op::TypeFunction, &[&[result], &types[..]].concat());
        push(&mut head, op::Function, &[result, function, 0, ty]);
        for (parameter, ty) in parameters.iter().zip(&types) {
            let id = body.fresh();
            push(&mut head, op::FunctionParameter, &[*ty, id]);
            match parameter {
                Parameter::Uint => body.scope.uints.push(id),
                Parameter::Uvec4 => body.scope.uvec4s.push(id),
                Parameter::Local | Parameter::Private => body.scope.pointers.push(id),
            }
        }
        push(&mut head, op::Label, &[label]);
        body.declare();
        if let Kind::Entry {
            input,
            input_type,
            output,
            model,
            ..
        } = kind
        {
            body.output = output;
            body.fragment = model == execution_model::Fragment;
            body.store_invocation(input, input_type, model);
        } else {
            let name = format!("f{}", body.globals.callees.len());
            body.name(function, &name);
        }
        let count = body.choices.between(1, options.size.max(1) * 2);
        body.statements(count, 3);
        if body.open {
            body.emit_return();
        }
        for &[pointer, id, initial] in &body.variables {
            push(&mut head, op::Variable, &[pointer, id, class::Function, initial]);
        }
        head.append(&mut body.code);
        push(&mut head, op::FunctionEnd, &[]);
        let cost = body.cost;
        globals.builder.functions.append(&mut head);
        if entry.is_none() {
            globals.callees.push(Callee {
                id: function,
                returns,
                parameters,
                cost,
            });
        }
    }

    fn parameter_type(&mut self, parameter: Parameter) -> Id {
        let uint = self.uint();
        match parameter {
            Parameter::Uint => uint,
            Parameter::Uvec4 => self.vector(uint, 4),
            Parameter::Local => self.pointer(class::Function, uint),
            Parameter::Private => self.pointer(class::Private, uint),
        }
    }

    pub(super) fn type_of(&mut self, returns: Returns) -> Id {
        match returns {
            Returns::Void => self.void(),
            Returns::Uint => self.uint(),
            Returns::Uvec4 => self.parameter_type(Parameter::Uvec4),
            Returns::Pair => self.globals.pair,
        }
    }

    /// Appends an instruction with a result.
    pub(super) fn emit(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.emit_as(id, opcode, ty, operands);
        id
    }

    pub(super) fn emit_as(&mut self, id: Id, opcode: u16, ty: Id, operands: &[u32]) {
        self.emit_void(opcode, &[&[ty, id], operands].concat());
    }

    /// Appends an instruction without a result.
    pub(super) fn emit_void(&mut self, opcode: u16, operands: &[u32]) {
        push(&mut self.code, opcode, operands);
        self.cost = self.cost.saturating_add(self.times);
        if op::is_terminator(opcode) {
            self.open = false;
        }
    }

    /// Starts a block.
    pub(super) fn begin(&mut self, label: Id) {
        self.emit_void(op::Label, &[label]);
        self.label = label;
        self.open = true;
    }

    pub(super) fn branch(&mut self, label: Id) {
        self.emit_void(op::Branch, &[label]);
    }

    /// Ends the block with a selection that has the merge block `merge`.
    pub(super) fn branch_if(&mut self, condition: Id, [yes, no]: [Id; 2], merge: Id) {
        self.emit_void(op::SelectionMerge, &[merge, 0]);
        self.emit_void(op::BranchConditional, &[condition, yes, no]);
    }

    /// Emits a phi of the incoming `edges` (values and blocks), and adds it to the scope.
    pub(super) fn phi(&mut self, edges: &[(Id, Id)]) -> Id {
        let uint = self.uint();
        let operands: Vec<u32> = edges.iter().flat_map(|(value, from)| [*value, *from]).collect();
        let phi = self.emit(op::Phi, uint, &operands);
        self.scope.uints.push(phi);
        phi
    }

    /// A constant below `count`.
    pub(super) fn constant_below(&mut self, count: u32) -> Id {
        let value = self.choices.below(count);
        self.constant(value)
    }

    pub(super) fn can_afford(&self, cost: u32) -> bool {
        self.cost.saturating_add(cost.saturating_mul(self.times)) < self.budget
    }

    /// Whether the current code is in a continue construct, which is left only through its back edge.
    pub(super) fn in_continue(&self) -> bool {
        self.loops.iter().any(Option::is_none)
    }

    /// Adds up to `count` statements, while the budget lasts and the block is open.
    pub(super) fn statements(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            if !self.open || !self.can_afford(20) {
                return;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let nested = if depth == 0 { 0 } else { 45 };
        let kind = self.choices.below(55 + nested);
        match kind {
            0..=34 => self.straight_line(),
            35..=44 if self.options.aborts && !self.in_continue() => self.abort_if_due(),
            45..=49 if self.can_jump() => self.emit_jump_if(),
            35..=54 => self.straight_line(),
            55..=69 => self.selection(depth - 1),
            70..=79 => self.switch(depth - 1),
            _ => self.emit_loop(depth - 1),
        }
    }

    /// Returns, after storing an output.
    pub(super) fn emit_return(&mut self) {
        if !self.open {
            return;
        }
        match self.returns {
            Returns::Void => {
                if let Some(output) = self.output {
                    let value = self.uvec4();
                    self.emit_void(op::Store, &[output, value]);
                }
                if self.fragment && self.choices.chance(5) {
                    return self.emit_void(op::Kill, &[]);
                }
                self.emit_void(op::Return, &[]);
            }
            Returns::Uint => self.return_value(Self::any_uint),
            Returns::Uvec4 => self.return_value(Self::uvec4),
            Returns::Pair => self.return_value(Self::pair),
        }
    }

    fn return_value(&mut self, choose: fn(&mut Self) -> Id) {
        let value = choose(self);
        self.emit_void(op::ReturnValue, &[value]);
    }
}
