//! Ids that an instrumented module shares: the flag and the variables of deferred records. Each is declared on first use.

use super::compact_shape::CompactShape;
use super::deferred::{EntryRecords, record_key};
use vkabort_options::{Arena, Options, Trap};
use vkabort_record::site::CodeHash;
use vkabort_spirv::edit::abort_flag::AbortFlag;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::spec_constants;
use vkabort_spirv::op::{capability, memory_model, scope, storage_class};
use vkabort_spirv::{Code, Id, op};

/// Inputs of the shared functions, and their ids so far.
///
/// | file | adds |
/// | --- | --- |
/// | `state` | the flag, the key and the other Private variables |
/// | `arena` | types of the arena, pointers into it, ABORTED |
/// | `record` | pointers into a record, stores of its header and units |
/// | `shared_function` | writes a shared function |
/// | `reserve`, `compact_reserve` | `vkabort_reserve`, and the reservation itself |
/// | `functions` | `vkabort_commit`, `vkabort_put_bytes`, `vkabort_poll` |
/// | `record_writer`, `compact_record` | `vkabort_write_record` |
#[derive(Debug)]
pub struct Runtime {
    pub(super) arena: Arena,
    pub(super) trap: Trap,
    pub(super) hang_iterations: u32,
    pub(super) memory_barriers: bool,
    pub scalar_stores: bool,
    /// Whether the records of entry points that defer all of theirs are compact.
    pub compact_records: bool,
    pub(super) code: CodeHash,
    pub(super) uses_vulkan_memory_model: bool,
    /// The scope at which records are made available: the widest one that the module may use.
    pub scope: u32,
    /// `SpecId` of the constant for the key of the pipeline's specialisation, if it can have any.
    pub key_spec_id: Option<u32>,
    specialization: Option<Id>,
    /// Whether invocations leave only by one abort, and with a record.
    single_site: bool,
    /// The function of the module that an invocation calls before it ends because another one has aborted.
    pub end: Option<Id>,
    /// The function of the module that every invocation calls at its end.
    pub leave: Option<Id>,
    /// The function that writes the record of an invocation that may not come to the end of its entry point.
    pub write_now: Option<Id>,
    flag: Option<Id>,
    key: Option<Id>,
    /// Variables for the values of messages.
    values: Vec<Id>,
    task_groups: Option<Id>,
    pub(super) types: Option<ArenaTypes>,
    /// Type of pointers to a block with a runtime array of words.
    pub(super) words_pointer: Option<Id>,
    /// Addresses as `uvec2` constants.
    pub(super) addresses: Vec<(u64, Id)>,
    pub(super) reserve: Option<Id>,
    pub(super) commit: Option<Id>,
    pub(super) put_bytes: Option<Id>,
    pub(super) poll: Option<Id>,
    /// The functions that write records, by the records that they write and their shape if they are compact.
    pub(super) record_writers: Vec<(EntryRecords, Option<CompactShape>, Id)>,
    /// The functions written so far.
    pub functions: Code,
}

/// Types of the arena's contents, and of pointers to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaTypes {
    /// Four words.
    pub(crate) unit: Id,
    pub(crate) unit_pointer: Id,
    pub(crate) uint_pointer: Id,
    /// To a block of CURSOR and ABORTED.
    pub(super) control_pointer: Id,
    /// To a block with a runtime array of units.
    pub(super) units_pointer: Id,
}

impl Runtime {
    /// Declares nothing yet. `single_site`: whether invocations leave only by one abort, and with a record.
    pub fn new(index: &Index<'_>, options: &Options, code: CodeHash, single_site: bool) -> Self {
        Self {
            arena: options.arena,
            trap: options.trap,
            hang_iterations: options.hang_iterations,
            memory_barriers: options.memory_barriers,
            scalar_stores: options.scalar_stores,
            compact_records: options.compact_records,
            code,
            uses_vulkan_memory_model: uses_vulkan_memory_model(index),
            scope: widest_scope(index),
            key_spec_id: spec_constants::key_spec_id(index),
            specialization: None,
            single_site,
            end: None,
            leave: None,
            write_now: None,
            flag: None,
            key: None,
            values: Vec::new(),
            task_groups: None,
            types: None,
            words_pointer: None,
            addresses: Vec::with_capacity(2),
            reserve: None,
            commit: None,
            put_bytes: None,
            poll: None,
            record_writers: Vec::new(),
            functions: Code::with_room(512),
        }
    }

    /// Global variables declared here, which interfaces list from SPIR-V 1.4 on.
    pub fn variables(&self) -> impl Iterator<Item = Id> {
        let single = [self.flag, self.key, self.task_groups];
        single.into_iter().flatten().chain(self.values.iter().copied())
    }

    /// The flag that tells callers that the invocation has aborted. Where a module has one abort only, a `bool`: compilers
    /// merge its test with the abort's condition. Else the key, since every further variable takes a phi at each of the
    /// aborts' merge blocks: with 16 aborts the code of ACO and NAK is 10 and 20 percent smaller without the `bool`.
    pub fn flag(&mut self, out: &mut Emitter) -> AbortFlag {
        if !self.single_site {
            return AbortFlag::Key(self.key(out));
        }
        AbortFlag::Bool(*self.flag.get_or_insert_with(|| {
            let bool = out.bool();
            let no = bool_constant(out, false);
            let flag = out.private(bool, no);
            out.name(flag, "vkabort_aborted");
            flag
        }))
    }

    /// Private variable with the key of the invocation's record, see [`record_key`].
    pub fn key(&mut self, out: &mut Emitter) -> Id {
        let is_flag = !self.single_site;
        *self.key.get_or_insert_with(|| {
            let uint = out.uint();
            let running = is_flag.then(|| out.constant(record_key::RUNNING));
            let key = out.variable(storage_class::Private, uint, running);
            out.name(key, "vkabort_key");
            key
        })
    }

    /// The key of the pipeline's specialisation: a specialisation constant, 0 by default and in modules without others.
    pub(super) fn specialization(&mut self, out: &mut Emitter) -> Id {
        let Some(spec_id) = self.key_spec_id else {
            return out.constant(0);
        };
        *self.specialization.get_or_insert_with(|| {
            let constant = out.spec_constant(0, spec_id);
            out.name(constant, "vkabort_specialization");
            constant
        })
    }

    /// Notes that the invocation has aborted, and the key of its record.
    pub fn store_key(&mut self, out: &mut Emitter, key: Id) {
        let variable = self.key(out);
        out.op(op::Store, (variable, key));
        self.set_bool_flag(out);
    }

    /// As [`Self::store_key`], for the key of a deferred record, which the writer knows if it is the only one.
    pub fn store_deferred_key(&mut self, out: &mut Emitter, key: u32) {
        if self.single_site {
            self.set_bool_flag(out);
        } else {
            let key = out.constant(key);
            self.store_key(out, key);
        }
    }

    fn set_bool_flag(&mut self, out: &mut Emitter) {
        if let AbortFlag::Bool(flag) = self.flag(out) {
            let yes = bool_constant(out, true);
            out.op(op::Store, (flag, yes));
        }
    }

    /// Private variable `slot` for a value of a message, without an initial value.
    pub fn value(&mut self, out: &mut Emitter, slot: usize) -> Id {
        while self.values.len() <= slot {
            let uint = out.uint();
            let value = out.variable(storage_class::Private, uint, None);
            out.name(value, &format!("vkabort_value{}", self.values.len()));
            self.values.push(value);
        }
        self.values.get(slot).copied().unwrap_or(Id::NONE)
    }

    /// Private variable with the numbers of mesh workgroups that a task shader launches, initially zero.
    pub fn task_groups(&mut self, out: &mut Emitter) -> Id {
        *self.task_groups.get_or_insert_with(|| {
            let uint = out.uint();
            let uvec3 = out.vector(uint, 3);
            private_zero(out, uvec3, "vkabort_task_groups")
        })
    }
}

/// Whether a module has the Vulkan memory model.
pub fn uses_vulkan_memory_model(index: &Index<'_>) -> bool {
    index.inst(index.sections.memory_model).memory_model() == memory_model::Vulkan
}

/// The widest scope that a module may use: the Vulkan memory model allows the scope Device only with a capability.
pub fn widest_scope(index: &Index<'_>) -> u32 {
    let has_device = index.has_capability(capability::VulkanMemoryModelDeviceScope);
    match uses_vulkan_memory_model(index) && !has_device {
        true => scope::QueueFamily,
        false => scope::Device,
    }
}

/// The Boolean constant `value`.
pub fn bool_constant(out: &mut Emitter, value: bool) -> Id {
    let bool = out.bool();
    out.value(if value { op::ConstantTrue } else { op::ConstantFalse }, bool, ())
}

/// A Private variable with the initial value zero.
fn private_zero(out: &mut Emitter, ty: Id, name: &str) -> Id {
    let zero = out.null(ty);
    let variable = out.private(ty, zero);
    out.name(variable, name);
    variable
}
