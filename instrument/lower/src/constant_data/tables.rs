//! Lowers constant data that no single constant holds, or that compiles slowly as one, to a table of words.
//!
//! ```text
//! CompositeExtract %data i                        a constant
//! Store %p (CopyLogical %data)                    FunctionCall %copy: a loop over the words
//! Variable %v Function|Private %data, and only
//!   AccessChain %v %i, Load                       a load from the table
//! Variable %v .. %data, also written              FunctionCall %copy at the start
//! ConstantComposite %struct %x %data              as above, part by part
//! other uses                                      the constant if one holds it; else Load of a variable filled by %copy
//! ```
//!
//! The table is an array of words in memory (`Hooks::place`), else a Private variable with an initialiser. The compilers of
//! CPU drivers turn constant arrays into one store for each element in every shader: Mesa 22.3 compiles 1,024 words in 45 s,
//! SwiftShader ends the process at 16,384. Mesa's compilers for GPUs take minutes for 65,532.
//!
//! Not handled: data that no constant holds in a specialisation constant operation.

use super::copy::{Target, access_of_part, copy};
use super::data::PASS;
use super::starts::{function_at, insert_at_entries, insert_at_start};
use super::uses::Uses;
use super::value::{Part, Value};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_spirv::edit::annotations::remove_annotations;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::literal_words;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Code, Id, Inst, Literal, Operands, Words, op, operands};

/// Lowers the values of a module that contain tables.
pub(super) struct Tables<'a, 'w> {
    index: &'a Index<'w>,
    out: &'a mut Emitter,
    edits: &'a mut Edits,
    uses: Uses<'a, 'w>,
    /// The functions written so far.
    functions: Code,
    /// Private variables declared here.
    variables: Vec<Id>,
    /// Offsets of stores that were replaced.
    copied: HashSet<usize>,
    /// Removed definitions.
    removed: HashSet<Id>,
    /// Values that remain constants.
    kept: HashSet<Id>,
    /// Operands to replace by instruction: (word, id).
    replaced: HashMap<usize, Vec<(usize, Id)>>,
}

impl<'a, 'w> Tables<'a, 'w> {
    /// `variables`: those of tables.
    pub(super) fn new(index: &'a Index<'w>, out: &'a mut Emitter, edits: &'a mut Edits, variables: Vec<Id>) -> Self {
        Self {
            index,
            out,
            edits,
            uses: Uses::new(index),
            functions: Code::default(),
            variables,
            copied: HashSet::default(),
            removed: HashSet::default(),
            kept: HashSet::default(),
            replaced: HashMap::default(),
        }
    }

    /// Replaces the uses of all values. Returns those that must remain constants.
    ///
    /// # Errors
    ///
    /// A use that only a constant allows, if no constant holds the data.
    pub(super) fn lower(mut self, values: &[Value<'w>]) -> Result<HashSet<Id>> {
        let ids: HashSet<Id> = values.iter().map(|value| value.inst.result()).collect();
        // A composite comes after its members.
        for value in values.iter().rev() {
            self.lower_value(value, &ids)?;
        }
        Ok(self.finish())
    }

    fn lower_value(&mut self, value: &Value<'w>, values: &HashSet<Id>) -> Result<()> {
        let id = value.inst.result();
        let mut others = Vec::new();
        let mut is_kept = false;
        for inst in self.uses.of(id) {
            let element = match inst.opcode() {
                op::CompositeExtract => value.element(inst.from(4)),
                op::SpecConstantOp if inst.spec_opcode() == op::CompositeExtract => value.element(inst.from(5)),
                _ => None,
            };
            match (inst.opcode(), element) {
                (op::ConstantComposite | op::SpecConstantComposite, _) if values.contains(&inst.result()) => {
                    is_kept |= self.kept.contains(&inst.result());
                }
                (op::CompositeExtract, Some((data, number))) => {
                    let constant = data.constant(self.out, number);
                    self.replace(&inst, op::CopyObject, constant);
                }
                (op::SpecConstantOp, Some((data, number))) => {
                    let literal = literal_words(&data.element, data.value(number));
                    self.edits.replace_by(
                        &inst,
                        op::Constant,
                        (inst.result_type(), inst.result(), Words(&literal)),
                    );
                }
                (op::Store, _) if self.uses.is_store(&inst, id) => {
                    match self.look_ups(inst.pointer(), value) {
                        // No load can observe anything else.
                        Some(_) => self.edits.remove_inst(&inst),
                        None => self.copy_to_store(value, &inst),
                    }
                }
                (op::CopyLogical, _) if value.is_composite() => others.push(inst),
                (op::CopyLogical | op::CopyObject, _) if self.uses.is_only_stored(inst.result()) => {
                    for store in self.uses.of(inst.result()) {
                        self.copy_to_store(value, &store);
                    }
                    self.remove(&inst);
                }
                (op::Variable, _) => {
                    let class = Literal(inst.storage_class());
                    self.edits
                        .replace_by(&inst, op::Variable, (inst.result_type(), inst.result(), class));
                    if self.look_ups(inst.result(), value).is_none() {
                        self.fill(value, &inst);
                    }
                }
                _ => others.push(inst),
            }
        }
        self.replace_look_ups(value);
        if is_kept || !others.is_empty() && value.fits_constant {
            self.kept.insert(id);
            return Ok(());
        }
        if !others.is_empty() {
            self.replace_others(value, &others)?;
        }
        self.remove(&value.inst);
        Ok(())
    }

    /// Adds the functions and interface variables.
    fn finish(self) -> HashSet<Id> {
        let Self { index, edits, .. } = self;
        for (offset, operands) in self.replaced {
            let inst = index.inst(offset);
            let mut code = Code::default();
            code.copy(&inst);
            for (at, id) in operands {
                if let Some(word) = code.words.get_mut(at) {
                    *word = id.word();
                }
            }
            edits.replace_inst(&inst, &code);
        }
        remove_annotations(index, |id| self.removed.contains(&id), edits);
        edits.insert(index.new_functions(), &self.functions);
        if index.version >= vkabort_spirv::words::version(1, 4) && !self.variables.is_empty() {
            for entry in &index.entry_points {
                edits.replace_by(
                    &entry.inst,
                    op::EntryPoint,
                    (Words(entry.inst.from(1)), self.variables.as_slice()),
                );
            }
        }
        self.kept
    }

    fn look_ups(&self, variable: Id, value: &Value<'w>) -> Option<Vec<(Inst<'w>, Vec<Inst<'w>>)>> {
        let is_resolved = |chain: &Inst<'w>| value.resolve(self.index, chain).is_some();
        self.uses.look_ups(variable, value.inst.result(), is_resolved)
    }

    /// Replaces the loads from variables that hold nothing but the value.
    fn replace_look_ups(&mut self, value: &Value<'w>) {
        for variable in self.uses.variables_with(value.inst.result()) {
            // The access chains stay: debug information may name them.
            for (chain, loads) in self.look_ups(variable, value).unwrap_or_default() {
                let Some((table, at)) = value.resolve(self.index, &chain) else {
                    continue;
                };
                let ty = self.index.def(self.index.type_of(at));
                for load in loads {
                    table.1.look_up(self.out, (at, ty), load.result());
                    self.edits.replace_inst(&load, &self.out.take_code());
                }
            }
        }
    }

    fn replace(&mut self, inst: &Inst<'_>, opcode: u16, operand: impl Operands) {
        self.edits
            .replace_by(inst, opcode, (inst.result_type(), inst.result(), operand));
    }

    /// Removes a definition without uses. One that debug information names is replaced.
    fn remove(&mut self, inst: &Inst<'_>) {
        if self.uses.has_debug_info(inst.result()) {
            // Undef is allowed among the constants too.
            self.replace(inst, op::Undef, ());
        } else {
            self.edits.remove_inst(inst);
            self.removed.insert(inst.result());
        }
    }

    /// Replaces a store by copies of the value's parts.
    fn copy_to_store(&mut self, value: &Value<'w>, store: &Inst<'w>) {
        if self.copied.insert(store.offset) {
            let target = Target::of_pointer(self.index, store.pointer());
            let code = self.copy(value, &target, Some(store));
            self.edits.replace_inst(store, &code);
        }
    }

    /// Code that copies the parts of a value to an object, with the memory operands of a store.
    fn copy(&mut self, value: &Value<'w>, target: &Target, store: Option<&Inst<'w>>) -> Code {
        for (path, part) in &value.parts {
            let target = target.part(self.out, path);
            match part {
                Part::Table(table) => {
                    let (data, table) = &**table;
                    let access = store.map_or_else(Vec::new, |store| access_of_part(store, data.bytes as u32));
                    let functions = &mut self.functions;
                    copy(self.index, self.out, functions, (data, table), &target, &access);
                }
                Part::Constant(id) => {
                    // A part may have any alignment, but not less than a byte.
                    let access = store.map_or_else(Vec::new, |store| access_of_part(store, 1));
                    let ty = self.index.type_of(*id);
                    target.store(self.out, (*id, ty), &access);
                }
            }
        }
        self.out.take_code()
    }

    /// Fills a variable, which had an initialiser, at the start of its function or of the entry points.
    fn fill(&mut self, value: &Value<'w>, variable: &Inst<'w>) {
        let (id, class) = (variable.result(), variable.storage_class());
        let code = self.copy(value, &Target::variable(id, class), None);
        match function_at(self.index, variable.offset) {
            Some(function) => insert_at_start(self.index, self.edits, &function, Rank::Entry, &code),
            None => insert_at_entries(self.index, self.edits, &code, |entry| {
                class == storage_class::Private || entry.has_in_interface(id)
            }),
        }
    }

    /// Loads the value from a filled variable at the start of each function that uses it.
    fn replace_others(&mut self, value: &Value<'w>, others: &[Inst<'w>]) -> Result<()> {
        let (id, ty) = (value.inst.result(), value.inst.result_type());
        let whole = self.out.variable(storage_class::Private, ty, None);
        self.variables.push(whole);
        let mut loaded: HashMap<usize, Id> = HashMap::default();
        for inst in others {
            let Some(function) = function_at(self.index, inst.offset) else {
                let message = "constant data of more than 65532 elements is an operand of a specialisation constant \
                               operation, which needs one constant with all elements; store the data to a variable";
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    PASS,
                    value.inst.offset as u32,
                    message,
                ));
            };
            let loaded = *loaded.entry(function.offset).or_insert_with(|| {
                let loaded = self.out.emit(op::Load, ty, whole);
                let code = self.out.take_code();
                insert_at_start(self.index, self.edits, &function, Rank::Entry, &code);
                loaded
            });
            let words = self.replaced.entry(inst.offset).or_default();
            operands::visit_ids(inst, self.index.selector_words(inst), |i| {
                if inst.id(i) == id {
                    words.push((i, loaded));
                }
            });
        }
        let code = self.copy(value, &Target::variable(whole, storage_class::Private), None);
        insert_at_entries(self.index, self.edits, &code, |_| true);
        Ok(())
    }
}
