//! The body of one function: what is in scope, how much it may cost, and the statements at random.

use super::Wish;
use super::world::{Callee, OUT_WORDS, Parameter, Returns, World};
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, execution_model, storage_class as class};
use crate::words::push;

/// Which function to make.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Callee {
        returns: Returns,
        parameters: Vec<Parameter>,
    },
    Entry {
        function: Id,
        input: Id,
        input_type: Id,
        output: Option<Id>,
        model: u32,
    },
}

impl Kind {
    pub(super) fn callee(_world: &mut World, choices: &mut Choices) -> Self {
        let returns = [Returns::Uint, Returns::Void, Returns::Uvec4, Returns::Pair];
        let parameters = [Parameter::Uint, Parameter::Uvec4, Parameter::Local, Parameter::Private];
        Self::Callee {
            returns: choices.pick(&returns).unwrap_or(Returns::Uint),
            parameters: (0..choices.below(4))
                .filter_map(|_| choices.pick(&parameters))
                .collect(),
        }
    }
}

/// Values whose definitions dominate the place where code is added.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) uints: Vec<Id>,
    pub(super) bools: Vec<Id>,
    pub(super) uvec4s: Vec<Id>,
    pub(super) pairs: Vec<Id>,
    /// Pointers to `uint`.
    pub(super) pointers: Vec<Id>,
}

/// A loop around the place where code is added.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) merge: Id,
    pub(super) target: Id,
    /// A value and the block it comes from, for the phi of the merge block.
    pub(super) breaks: Vec<(Id, Id)>,
    /// The same for the continue target.
    pub(super) continues: Vec<(Id, Id)>,
}

pub(super) struct Body<'a> {
    pub(super) world: &'a mut World,
    pub(super) choices: &'a mut Choices,
    pub(super) wish: Wish,
    pub(super) code: Vec<u32>,
    /// (pointer type, id, initialiser) of variables of class Function.
    variables: Vec<[Id; 3]>,
    /// Variables that may be passed to parameters.
    pub(super) locals: Vec<Id>,
    pub(super) label: Id,
    /// The block has no terminator yet.
    pub(super) open: bool,
    pub(super) scope: Scope,
    /// The innermost loop last; `None` for a continue construct, which nothing leaves in a way of its own.
    pub(super) loops: Vec<Option<Loop>>,
    pub(super) returns: Returns,
    /// How often the code being made runs at most.
    pub(super) times: u32,
    pub(super) cost: u32,
    budget: u32,
    output: Option<Id>,
    fragment: bool,
    /// The message being made is not made in the block of its abort.
    pub(super) early: bool,
    /// Arrays around the part of a message that is being decided.
    pub(super) arrays: u32,
}

impl<'a> Body<'a> {
    /// Makes a function and adds it to the module.
    pub(super) fn function(world: &'a mut World, choices: &'a mut Choices, wish: Wish, kind: Kind, budget: u32) {
        let (returns, parameters, entry) = match &kind {
            Kind::Callee { returns, parameters } => (*returns, parameters.clone(), None),
            Kind::Entry { function, .. } => (Returns::Void, Vec::new(), Some(*function)),
        };
        let builder = &mut world.builder;
        let function = entry.unwrap_or_else(|| builder.fresh());
        let label = builder.fresh();
        let mut body = Body {
            world,
            choices,
            wish,
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
        let result = body.returned_type();
        let signature: Vec<u32> = [result].into_iter().chain(types.iter().copied()).collect();
        let ty = body.world.builder.ty(op::TypeFunction, &signature);
        push(&mut head, op::Function, &[result, function, 0, ty]);
        for (parameter, ty) in parameters.iter().zip(&types) {
            let id = body.world.builder.fresh();
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
            body.identify(input, input_type, model);
        } else {
            let name = format!("f{}", body.world.callees.len());
            body.world.builder.name(function, &name);
        }
        let count = body.choices.between(1, wish.size.max(1) * 2);
        body.statements(count, 3);
        if body.open {
            body.leave();
        }
        for variable in &body.variables {
            push(
                &mut head,
                op::Variable,
                &[variable[0], variable[1], class::Function, variable[2]],
            );
        }
        head.append(&mut body.code);
        push(&mut head, op::FunctionEnd, &[]);
        let cost = body.cost;
        world.builder.functions.append(&mut head);
        if entry.is_none() {
            world.callees.push(Callee {
                id: function,
                returns,
                parameters,
                cost,
            });
        }
    }

    fn parameter_type(&mut self, parameter: Parameter) -> Id {
        let builder = &mut self.world.builder;
        let uint = builder.uint();
        match parameter {
            Parameter::Uint => uint,
            Parameter::Uvec4 => builder.vector(uint, 4),
            Parameter::Local => builder.pointer(class::Function, uint),
            Parameter::Private => builder.pointer(class::Private, uint),
        }
    }

    pub(super) fn type_of(&mut self, returns: Returns) -> Id {
        let builder = &mut self.world.builder;
        match returns {
            Returns::Void => builder.void(),
            Returns::Uint => builder.uint(),
            Returns::Uvec4 => {
                let uint = builder.uint();
                builder.vector(uint, 4)
            }
            Returns::Pair => self.world.pair,
        }
    }

    fn returned_type(&mut self) -> Id {
        self.type_of(self.returns)
    }

    /// Declares variables: some words and an array.
    fn declare(&mut self) {
        let builder = &mut self.world.builder;
        let uint = builder.uint();
        let pointer = builder.pointer(class::Function, uint);
        let array = builder.array(uint, 4);
        let array_pointer = builder.pointer(class::Function, array);
        let nothing = builder.value(op::ConstantNull, array, &[]);
        for _ in 0..self.choices.between(1, 3) {
            let initial = self.choices.below(100);
            let builder = &mut self.world.builder;
            let (id, initial) = (builder.fresh(), builder.constant(initial));
            self.variables.push([pointer, id, initial]);
            self.locals.push(id);
            self.scope.pointers.push(id);
        }
        let id = self.world.builder.fresh();
        self.variables.push([array_pointer, id, nothing]);
        self.locals.insert(0, id);
        self.scope.pointers.push(self.world.shared);
    }

    /// A variable of class Function with a null initialiser.
    pub(super) fn variable(&mut self, ty: Id) -> Id {
        let builder = &mut self.world.builder;
        let pointer = builder.pointer(class::Function, ty);
        let nothing = builder.value(op::ConstantNull, ty, &[]);
        let id = builder.fresh();
        self.variables.push([pointer, id, nothing]);
        id
    }

    /// Stores the number of the invocation, at the start of an entry point.
    fn identify(&mut self, input: Id, input_type: Id, model: u32) {
        let uint = self.world.builder.uint();
        let value = self.emit(op::Load, input_type, &[input]);
        let number = match model {
            execution_model::GLCompute => self.emit(op::CompositeExtract, uint, &[value, 0]),
            execution_model::Fragment => {
                let float = self.world.builder.float(32);
                let x = self.emit(op::CompositeExtract, float, &[value, 0]);
                self.emit(op::ConvertFToU, uint, &[x])
            }
            _ if input_type == uint => value,
            _ => self.emit(op::Bitcast, uint, &[value]),
        };
        self.act(op::Store, &[self.world.invocation, number]);
        self.scope.uints.push(number);
    }

    /// An instruction with a result.
    pub(super) fn emit(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.world.builder.fresh();
        self.emit_as(id, opcode, ty, operands);
        id
    }

    pub(super) fn emit_as(&mut self, id: Id, opcode: u16, ty: Id, operands: &[u32]) {
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        self.act(opcode, &all);
    }

    /// An instruction without a result.
    pub(super) fn act(&mut self, opcode: u16, operands: &[u32]) {
        push(&mut self.code, opcode, operands);
        self.cost = self.cost.saturating_add(self.times);
        if op::is_terminator(opcode) {
            self.open = false;
        }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, label: Id) {
        self.act(op::Label, &[label]);
        self.label = label;
        self.open = true;
    }

    pub(super) fn branch(&mut self, label: Id) {
        self.act(op::Branch, &[label]);
    }

    pub(super) fn can_afford(&self, cost: u32) -> bool {
        self.cost.saturating_add(cost.saturating_mul(self.times)) < self.budget
    }

    /// Whether the code being made is part of a continue construct, which may be left by its back edge only.
    pub(super) fn in_continue(&self) -> bool {
        self.loops.iter().any(Option::is_none)
    }

    /// Statements until there are enough, the money is spent or the block has ended.
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
            0..=34 => self.straight(),
            35..=44 if self.wish.aborts && !self.in_continue() => self.abort_if_due(),
            45..=49 if self.can_jump() => self.jump_if(),
            35..=54 => self.straight(),
            55..=69 => self.selection(depth - 1),
            70..=79 => self.switch(depth - 1),
            _ => self.repeat(depth - 1),
        }
    }

    /// Returns, after having stored something.
    pub(super) fn leave(&mut self) {
        if !self.open {
            return;
        }
        match self.returns {
            Returns::Void => {
                if let Some(output) = self.output {
                    let value = self.uvec4();
                    self.act(op::Store, &[output, value]);
                }
                if self.fragment && self.choices.chance(5) {
                    return self.act(op::Kill, &[]);
                }
                self.act(op::Return, &[]);
            }
            Returns::Uint => {
                let value = self.uint();
                self.act(op::ReturnValue, &[value]);
            }
            Returns::Uvec4 => {
                let value = self.uvec4();
                self.act(op::ReturnValue, &[value]);
            }
            Returns::Pair => {
                let value = self.pair();
                self.act(op::ReturnValue, &[value]);
            }
        }
    }

    /// Pointer to one of the invocation's own words of results.
    pub(super) fn result_pointer(&mut self) -> Id {
        let builder = &mut self.world.builder;
        let uint = builder.uint();
        let pointer = builder.pointer(self.world.buffer_class, uint);
        let (zero, words) = (builder.constant(0), builder.constant(OUT_WORDS));
        let word = self.choices.below(OUT_WORDS);
        let word = self.world.builder.constant(word);
        let (invocation, out) = (self.world.invocation, self.world.out);
        let number = self.emit(op::Load, uint, &[invocation]);
        let first = self.emit(op::IMul, uint, &[number, words]);
        let at = self.emit(op::IAdd, uint, &[first, word]);
        self.emit(op::AccessChain, pointer, &[out, zero, at])
    }
}
