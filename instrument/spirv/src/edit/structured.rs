//! Writes functions, selections and loops of new code.

use super::emitter::Emitter;
use crate::{Code, Id, Literal, op};

impl Emitter {
    /// Begins a function: its instruction, its parameters and its first block. Returns the parameters and the label of the block.
    pub fn begin_function(&mut self, function: Id, (result, parameters): (Id, &[Id])) -> (Vec<Id>, Id) {
        let ty = self.function_type(result, parameters);
        self.op(op::Function, (result, function, Literal(0), ty));
        let parameters = parameters.iter().map(|ty| self.emit(op::FunctionParameter, *ty, ()));
        let parameters = parameters.collect();
        let entry = self.fresh();
        self.label(entry);
        (parameters, entry)
    }

    /// Writes a function with these types of result and parameters into `functions`. `write` gets the label of its first block, which
    /// is open, and the parameters, and returns the result.
    pub fn function(
        &mut self,
        functions: &mut Code,
        name: &str,
        types: (Id, &[Id]),
        write: impl FnOnce(&mut Self, Id, &[Id]) -> Option<Id>,
    ) -> Id {
        // Declared before the function takes its id, as the ids of modules have always been.
        self.function_type(types.0, types.1);
        let function = self.fresh();
        self.name(function, name);
        self.continue_code(functions, |out| {
            let (parameters, entry) = out.begin_function(function, types);
            match write(out, entry, &parameters) {
                Some(value) => out.op(op::ReturnValue, value),
                None => out.op(op::Return, ()),
            }
            out.op(op::FunctionEnd, ());
        });
        function
    }

    /// Writes code that is executed if a condition holds.
    pub fn if_(&mut self, condition: Id, write: impl FnOnce(&mut Self)) {
        let [yes, behind] = [(); 2].map(|()| self.fresh());
        self.branch_if(condition, yes, behind, behind);
        self.label(yes);
        write(self);
        self.branch(behind);
        self.label(behind);
    }

    /// Writes a loop behind the block `before`. Its state has a type and a first value each; `goes_on` computes whether an iteration
    /// follows and values for it, `body` the state that follows it. Returns the last state and the label of the block behind the loop,
    /// which is open.
    pub fn loop_<const N: usize, T>(
        &mut self,
        before: Id,
        state: [(Id, Id); N],
        goes_on: impl FnOnce(&mut Self, [Id; N]) -> (Id, T),
        body: impl FnOnce(&mut Self, [Id; N], T) -> [Id; N],
    ) -> ([Id; N], Id) {
        let [header, first, next, behind] = [(); 4].map(|()| self.fresh());
        self.branch(header);
        self.label(header);
        let phis = state.map(|(ty, value)| {
            let phi = self.fresh();
            let at = self.code.words.len();
            self.phi(ty, phi, &[(value, before), (Id::NONE, next)]);
            (phi, at)
        });
        let current = phis.map(|(phi, _)| phi);
        let (condition, computed) = goes_on(self, current);
        self.op(op::LoopMerge, (behind, next, Literal(0)));
        self.op(op::BranchConditional, (condition, first, behind));
        self.label(first);
        let following = body(self, current, computed);
        // The operand of each phi that was not known: its fifth.
        for ((_, at), value) in phis.iter().zip(following) {
            let operand = self.code.words.get_mut(at + 5);
            operand.into_iter().for_each(|word| *word = value.word());
        }
        self.branch(next);
        self.label(next);
        self.branch(header);
        self.label(behind);
        (current, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inst;
    use crate::index::Index;
    use crate::words::Insts;

    #[test]
    fn a_loop_feeds_its_phis_with_the_state_that_its_body_computes() {
        let module = [0x0723_0203, 0x1_0500, 0, 1, 0, 3 << 16 | 14, 0, 1];
        let mut out = Emitter::new(&Index::new(&module).expect("a memory model"));
        let (uint, bool, [zero, one, ten]) = (out.uint(), out.bool(), [0, 1, 10].map(|value| out.constant(value)));
        let mut functions = Code::default();
        let mut following = Id::NONE;
        out.function(&mut functions, "count", (uint, &[]), |out, entry, _| {
            let is_below = |out: &mut Emitter, [number]: [Id; 1]| (out.emit(op::ULessThan, bool, (number, ten)), ());
            let ([number], _) = out.loop_(entry, [(uint, zero)], is_below, |out, [number], ()| {
                following = out.calculate(op::IAdd, (number, one));
                [following]
            });
            Some(number)
        });
        let insts: Vec<Inst<'_>> = Insts::new(&functions.words, 0).collect();
        let find = |opcode: u16| {
            insts
                .iter()
                .find(|inst| inst.opcode() == opcode)
                .expect("an instruction")
        };
        let phi = find(op::Phi);
        assert_eq!((phi.id(3), phi.id(5)), (zero, following));
        assert_eq!(find(op::ReturnValue).id(1), phi.result());
        // The block that the second value comes from is the continue target.
        assert_eq!(phi.id(6), find(op::LoopMerge).id(2));
        let labels: Vec<Id> = insts
            .iter()
            .filter(|inst| inst.opcode() == op::Label)
            .map(Inst::result)
            .collect();
        assert_eq!(labels.len(), 5);
    }
}
