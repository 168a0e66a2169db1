//! Writes functions, selections and loops of new code.

use super::emitter::Emitter;
use crate::{Code, Id, Literal, op};

/// A loop that is being written.
#[derive(Debug)]
pub struct OpenLoop<const N: usize> {
    /// The state at the start of an iteration, and behind the loop.
    pub state: [Id; N],
    /// Word offsets of its phis in the code.
    phis: [usize; N],
    header: Id,
    /// The first block of the body.
    pub first: Id,
    next: Id,
    behind: Id,
}

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
        let open = self.begin_loop(before, state);
        let (condition, computed) = goes_on(self, open.state);
        self.begin_body(&open, condition, 0);
        let following = body(self, open.state, computed);
        (open.state, self.end_loop(&open, following))
    }

    /// Begins a loop behind the block `before`. Its state has a type and a first value each. Its header is open, for the condition.
    pub fn begin_loop<const N: usize>(&mut self, before: Id, state: [(Id, Id); N]) -> OpenLoop<N> {
        let [header, first, next, behind] = [(); 4].map(|()| self.fresh());
        self.branch(header);
        self.label(header);
        let phis = state.map(|(ty, value)| {
            let phi = self.fresh();
            let at = self.code.words.len();
            self.phi(ty, phi, &[(value, before), (Id::NONE, next)]);
            (phi, at)
        });
        OpenLoop {
            state: phis.map(|(phi, _)| phi),
            phis: phis.map(|(_, at)| at),
            header,
            first,
            next,
            behind,
        }
    }

    /// Begins the body, which is executed if `condition` holds. `control`: bits of the loop control, without operands.
    pub fn begin_body<const N: usize>(&mut self, open: &OpenLoop<N>, condition: Id, control: u32) {
        self.op(op::LoopMerge, (open.behind, open.next, Literal(control)));
        self.op(op::BranchConditional, (condition, open.first, open.behind));
        self.label(open.first);
    }

    /// Ends a loop, in the code that it began in. The next iteration begins with the state `following`. Returns the label of the block
    /// behind the loop, which is open.
    pub fn end_loop<const N: usize>(&mut self, open: &OpenLoop<N>, following: [Id; N]) -> Id {
        // The operand of each phi that was not known: its fifth.
        for (at, value) in open.phis.iter().zip(following) {
            let operand = self.code.words.get_mut(at + 5);
            operand.into_iter().for_each(|word| *word = value.word());
        }
        self.branch(open.next);
        self.label(open.next);
        self.branch(open.header);
        self.label(open.behind);
        open.behind
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
