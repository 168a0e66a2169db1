//! Functions that access shared arrays through pointers.

use super::shared_arrays::{Use, Writer};
use crate::module::Id;
use crate::op::{self, storage_class as class};

/// The functions of a program.
struct Callees {
    /// `void put(uint (*array)[], uint number, uint value)`.
    put: Id,
    /// The same, which calls `put`.
    put_through: Id,
    /// `uint get(uint (*array)[], uint number)`.
    get: Id,
    /// `void copy(uint (*to)[], uint (*from)[])`: the first invocation copies a whole array.
    copy: Id,
    /// `void fill(uint *local, uint value)`, whose pointer is to a local variable.
    fill: Id,
    /// The functions that return pointers, if some do.
    pointers: Option<Pointers>,
}

/// Functions that return pointers.
struct Pointers {
    /// `uint *at(uint number)`, and the array that its elements are in.
    of_arrays: Vec<(Id, Id)>,
    /// `uint *pick(uint which, uint number)`: pointer to an element of one of two arrays.
    pick: Id,
    /// `void set(uint *element, uint value)`.
    set: Id,
}

impl Writer<'_> {
    /// `returns_pointers`: some functions do.
    pub(super) fn callees(&mut self, returns_pointers: bool) {
        let put = self.put_function(None);
        let callees = Callees {
            put,
            put_through: self.put_function(Some(put)),
            get: self.get_function(),
            copy: self.copy_function(),
            fill: self.fill_function(),
            pointers: returns_pointers.then(|| self.pointer_functions()),
        };
        let uint = self.builder.uint();
        self.entry_point(|writer| {
            let local = writer.local(uint);
            writer.initialize(|writer, array, number, value| writer.put(&callees, (array, number), value));
            for _ in 0..writer.choices.between(2, 5) {
                if writer.choices.chance(30) {
                    writer.copy_arrays(&callees);
                }
                let uses = [(); 2].map(|()| writer.choose_use());
                for _ in 0..writer.choices.between(2, 8) {
                    writer.access_by_callee(&callees, uses, local);
                }
                writer.barrier();
            }
        });
    }

    fn array_pointer(&mut self) -> Id {
        self.builder.pointer(class::Workgroup, self.memory.ty)
    }

    /// A function that stores an element: itself, or by another function.
    fn put_function(&mut self, other: Option<Id>) -> Id {
        let (void, uint, array) = (self.builder.void(), self.builder.uint(), self.array_pointer());
        let (function, parameters) = self.begin_function_with(void, &[array, uint, uint]);
        if let [array, number, value] = parameters[..] {
            match other {
                Some(put) => {
                    self.value(op::FunctionCall, void, &[put, array, number, value]);
                }
                None => self.store_element(array, number, value),
            }
        }
        self.end_function();
        function
    }

    fn get_function(&mut self) -> Id {
        let (uint, array) = (self.builder.uint(), self.array_pointer());
        let (function, parameters) = self.begin_function_with(uint, &[array, uint]);
        if let [array, number] = parameters[..] {
            let value = self.load_element(array, number);
            self.push(op::ReturnValue, &[value]);
        }
        self.push(op::FunctionEnd, &[]);
        function
    }

    fn copy_function(&mut self) -> Id {
        let (void, array) = (self.builder.void(), self.array_pointer());
        let (function, parameters) = self.begin_function_with(void, &[array, array]);
        if let [to, from] = parameters[..] {
            let (invocation, zero) = (self.invocation(), self.number(0));
            let is_first = self.compare(op::IEqual, invocation, zero);
            let merge = self.open_selection(is_first);
            if self.choices.chance(50) {
                let whole = self.value(op::Load, self.memory.ty, &[from]);
                self.push(op::Store, &[to, whole]);
            } else {
                self.push(op::CopyMemory, &[to, from]);
            }
            self.close_selection(merge);
        }
        self.end_function();
        function
    }

    fn fill_function(&mut self) -> Id {
        let (void, uint) = (self.builder.void(), self.builder.uint());
        let pointer = self.builder.pointer(class::Function, uint);
        let (function, parameters) = self.begin_function_with(void, &[pointer, uint]);
        if let [local, value] = parameters[..] {
            let value = self.with_constant(op::IMul, value, 7);
            self.push(op::Store, &[local, value]);
        }
        self.end_function();
        function
    }

    fn pointer_functions(&mut self) -> Pointers {
        let (void, uint) = (self.builder.void(), self.builder.uint());
        let pointer = self.builder.pointer(class::Workgroup, uint);
        let mut of_arrays = Vec::new();
        for array in self.memory.arrays.into_iter().chain([self.memory.divisors]) {
            let (function, parameters) = self.begin_function_with(pointer, &[uint]);
            if let [number] = parameters[..] {
                let element = self.element(array, number);
                self.push(op::ReturnValue, &[element]);
            }
            self.push(op::FunctionEnd, &[]);
            of_arrays.push((array, function));
        }
        let (set, parameters) = self.begin_function_with(void, &[pointer, uint]);
        if let [element, value] = parameters[..] {
            self.push(op::Store, &[element, value]);
        }
        self.end_function();
        Pointers {
            of_arrays,
            pick: self.pick_function(),
            set,
        }
    }

    fn pick_function(&mut self) -> Id {
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::Workgroup, uint);
        let (function, parameters) = self.begin_function_with(pointer, &[uint, uint]);
        if let [which, number] = parameters[..] {
            let zero = self.number(0);
            let is_first = self.compare(op::IEqual, which, zero);
            let elements = self.memory.arrays.map(|array| self.element(array, number));
            let [first, second] = elements;
            let element = self.value(op::Select, pointer, &[is_first, first, second]);
            self.push(op::ReturnValue, &[element]);
        }
        self.push(op::FunctionEnd, &[]);
        function
    }

    fn put(&mut self, callees: &Callees, (array, number): (Id, Id), value: Id) {
        let pointers = callees.pointers.as_ref().filter(|_| self.choices.chance(50));
        if let Some(pointers) = pointers {
            return self.put_by_pointer(pointers, (array, number), value);
        }
        let put = self
            .choices
            .pick(&[callees.put, callees.put_through])
            .unwrap_or(callees.put);
        let void = self.builder.void();
        self.value(op::FunctionCall, void, &[put, array, number, value]);
    }

    /// Stores an element through a pointer that a function returns.
    fn put_by_pointer(&mut self, pointers: &Pointers, (array, number): (Id, Id), value: Id) {
        let (void, uint) = (self.builder.void(), self.builder.uint());
        let pointer = self.builder.pointer(class::Workgroup, uint);
        let own = pointers.of_arrays.iter().find(|(of, _)| *of == array);
        let element = match own {
            Some((_, at)) => self.value(op::FunctionCall, pointer, &[*at, number]),
            None => self.element(array, number),
        };
        match self.choices.chance(50) {
            true => self.push(op::Store, &[element, value]),
            false => {
                self.value(op::FunctionCall, void, &[pointers.set, element, value]);
            }
        }
    }

    /// Copies one array to the other, between barriers.
    fn copy_arrays(&mut self, callees: &Callees) {
        let [first, second] = self.memory.arrays;
        let pair = match self.choices.chance(50) {
            true => [first, second],
            false => [second, first],
        };
        let void = self.builder.void();
        self.value(op::FunctionCall, void, &[callees.copy, pair[0], pair[1]]);
        self.barrier();
    }

    /// An access in the way that its array is used.
    fn access_by_callee(&mut self, callees: &Callees, uses: [Use; 2], local: Id) {
        let sum = self.sum();
        let (uint, void) = (self.builder.uint(), self.builder.void());
        if self.choices.chance(15) {
            self.value(op::FunctionCall, void, &[callees.fill, local, sum]);
            let value = self.word(op::Load, &[local]);
            return self.add(value);
        }
        let which = self.choices.below(2);
        let ([first, second], [of_first, of_second]) = (self.memory.arrays, uses);
        let (array, usage) = if which == 0 {
            (first, of_first)
        } else {
            (second, of_second)
        };
        let (number, is_own) = self.place(usage, sum);
        let pick = callees.pointers.as_ref().map(|pointers| pointers.pick);
        if let Some(pick) = pick.filter(|_| self.choices.chance(25)) {
            let which = self.number(which);
            let pointer = self.builder.pointer(class::Workgroup, uint);
            let element = self.value(op::FunctionCall, pointer, &[pick, which, number]);
            if is_own && self.choices.chance(50) {
                return self.push(op::Store, &[element, sum]);
            }
            let value = self.word(op::Load, &[element]);
            return self.add(value);
        }
        if is_own && self.choices.chance(50) {
            let divisor = self.word(op::FunctionCall, &[callees.get, self.memory.divisors, number]);
            let value = self.word(op::UDiv, &[sum, divisor]);
            return self.put(callees, (array, number), value);
        }
        let value = match self.choices.chance(50) {
            true => self.word(op::FunctionCall, &[callees.get, array, number]),
            false => self.load_element(array, number),
        };
        self.add(value);
    }
}
