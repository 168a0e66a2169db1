//! Ids that an instrumented module shares: the flag, the identity, pointers into the arena. Each is declared on first use.

use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::options::{Arena, Options, Trap};
use crate::spv::op::memory_operands::{ALIGNED, NON_PRIVATE_POINTER};
use crate::spv::op::{capability, decoration, memory_model, scope, storage_class};
use crate::spv::{Code, Id, Literal, op};
use vkabort_record::layout::{ABORTED_OFFSET, DROPPED_OFFSET, UNIT_BYTES, UNIT_WORDS};
use vkabort_record::site::ModuleHash;

/// Members of the control block behind [`ArenaTypes::control_pointer`].
pub(super) const ABORTED: u32 = 0;
pub(super) const DROPPED: u32 = 1;

/// What the shared functions depend on, and their ids so far.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(super) arena: Arena,
    pub(super) trap: Trap,
    pub(super) hang_iterations: u32,
    pub(super) memory_barriers: bool,
    pub(super) hash: ModuleHash,
    pub(super) uses_vulkan_memory_model: bool,
    /// The scope at which records are made available: the widest one that the module may use.
    pub(super) scope: u32,
    flag: Option<Id>,
    stage: Option<Id>,
    identity: Option<Id>,
    task_groups: Option<Id>,
    types: Option<ArenaTypes>,
    /// Addresses as `uvec2` constants.
    addresses: Vec<(u64, Id)>,
    pub(super) reserve: Option<Id>,
    pub(super) commit: Option<Id>,
    pub(super) put_bytes: Option<Id>,
    pub(super) poll: Option<Id>,
    /// The functions written so far.
    pub(crate) functions: Code,
}

/// Types of the arena's contents, and of pointers to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaTypes {
    /// Four words.
    pub(crate) unit: Id,
    pub(crate) unit_pointer: Id,
    pub(crate) uint_pointer: Id,
    /// To a block of ABORTED and DROPPED.
    control_pointer: Id,
    /// To a block with a runtime array of units.
    units_pointer: Id,
    /// To a block with a runtime array of words.
    words_pointer: Id,
}

impl Runtime {
    /// Declares nothing yet.
    pub(crate) fn new(index: &Index<'_>, options: &Options, hash: ModuleHash) -> Self {
        let model = index.inst(index.sections.memory_model).memory_model();
        let uses_vulkan_memory_model = model == memory_model::Vulkan;
        // The Vulkan memory model allows the scope Device only with this capability.
        let has_device_scope =
            !uses_vulkan_memory_model || index.has_capability(capability::VulkanMemoryModelDeviceScope);
        Self {
            arena: options.arena,
            trap: options.trap,
            hang_iterations: options.hang_iterations,
            memory_barriers: options.memory_barriers,
            hash,
            uses_vulkan_memory_model,
            scope: if has_device_scope {
                scope::Device
            } else {
                scope::QueueFamily
            },
            flag: None,
            stage: None,
            identity: None,
            task_groups: None,
            types: None,
            addresses: Vec::with_capacity(2),
            reserve: None,
            commit: None,
            put_bytes: None,
            poll: None,
            functions: Code::with_room(512),
        }
    }

    /// Global variables declared here, which interfaces list from SPIR-V 1.4 on.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Id> {
        [self.flag, self.stage, self.identity, self.task_groups]
            .into_iter()
            .flatten()
    }

    /// The flag that tells callers that the invocation has aborted: a Private variable, initially false.
    pub(crate) fn flag(&mut self, globals: &mut Globals) -> Id {
        *self.flag.get_or_insert_with(|| {
            let bool = globals.bool();
            let no = bool_constant(globals, false);
            let flag = globals.private(bool, no);
            globals.name(flag, "vkabort_aborted");
            flag
        })
    }

    /// Private variable with the execution model of the entry point.
    pub(crate) fn stage(&mut self, globals: &mut Globals) -> Id {
        *self.stage.get_or_insert_with(|| {
            let uint = globals.uint();
            private_zero(globals, uint, "vkabort_stage")
        })
    }

    /// Private variable with the four words of the invocation's identity.
    pub(crate) fn identity(&mut self, globals: &mut Globals) -> Id {
        *self.identity.get_or_insert_with(|| {
            let uint = globals.uint();
            let uvec4 = globals.vector(uint, 4);
            private_zero(globals, uvec4, "vkabort_identity")
        })
    }

    /// Private variable with the numbers of mesh workgroups that a task shader launches, initially zero.
    pub(crate) fn task_groups(&mut self, globals: &mut Globals) -> Id {
        *self.task_groups.get_or_insert_with(|| {
            let uint = globals.uint();
            let uvec3 = globals.vector(uint, 3);
            private_zero(globals, uvec3, "vkabort_task_groups")
        })
    }

    /// The types, declared on first use.
    pub(crate) fn types(&mut self, globals: &mut Globals) -> ArenaTypes {
        *self.types.get_or_insert_with(|| {
            const CLASS: u32 = storage_class::PhysicalStorageBuffer;
            let uint = globals.uint();
            let unit = globals.vector(uint, UNIT_WORDS);
            let block_pointer = |globals: &mut Globals, types: &[Id], offsets: &[u32]| {
                let block = globals.structure(types);
                globals.decorate(block, decoration::Block, &[]);
                for (member, offset) in (0..).zip(offsets) {
                    globals.decorate_member(block, member, decoration::Offset, &[*offset]);
                }
                globals.pointer(CLASS, block)
            };
            let control_pointer = block_pointer(globals, &[uint; 2], &[ABORTED_OFFSET, DROPPED_OFFSET]);
            let units = globals.runtime_array(unit, UNIT_BYTES);
            let words = globals.runtime_array(uint, 4);
            let units_pointer = block_pointer(globals, &[units], &[0]);
            let words_pointer = block_pointer(globals, &[words], &[0]);
            ArenaTypes {
                unit,
                uint_pointer: globals.pointer(CLASS, uint),
                unit_pointer: globals.pointer(CLASS, unit),
                control_pointer,
                units_pointer,
                words_pointer,
            }
        })
    }

    /// Memory operands of a load or store in the arena; `alignment` in bytes
    /// (VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708).
    pub(crate) fn access(&self, alignment: u32) -> [Literal; 2] {
        let non_private = if self.uses_vulkan_memory_model {
            NON_PRIVATE_POINTER
        } else {
            0
        };
        [Literal(ALIGNED | non_private), Literal(alignment)]
    }

    /// A pointer of type `ty` to a device address.
    pub(super) fn pointer_to(&mut self, code: &mut Code, globals: &mut Globals, ty: Id, address: u64) -> Id {
        let declared = self.addresses.iter().find(|(declared, _)| *declared == address);
        let words = declared.map(|(_, words)| *words).unwrap_or_else(|| {
            let uint = globals.uint();
            let uvec2 = globals.vector(uint, 2);
            let (low, high) = (
                globals.constant(address as u32),
                globals.constant((address >> 32) as u32),
            );
            let words = globals.value(op::ConstantComposite, uvec2, (low, high));
            self.addresses.push((address, words));
            words
        });
        let pointer = globals.fresh();
        code.op(op::Bitcast, (ty, pointer, words));
        pointer
    }

    /// Pointer to the record area as an array of units.
    pub(crate) fn units(&mut self, code: &mut Code, globals: &mut Globals) -> Id {
        let ty = self.types(globals).units_pointer;
        self.pointer_to(code, globals, ty, self.arena.records)
    }

    /// Pointer to the record area as an array of words.
    pub(crate) fn words(&mut self, code: &mut Code, globals: &mut Globals) -> Id {
        let ty = self.types(globals).words_pointer;
        self.pointer_to(code, globals, ty, self.arena.records)
    }

    /// Pointer to [`ABORTED`] or [`DROPPED`] in the control block in use.
    pub(super) fn control(&mut self, code: &mut Code, globals: &mut Globals, member: u32) -> Id {
        self.control_at(code, globals, self.arena.control, member)
    }

    fn control_at(&mut self, code: &mut Code, globals: &mut Globals, address: u64, member: u32) -> Id {
        let types = self.types(globals);
        let block = self.pointer_to(code, globals, types.control_pointer, address);
        let member = globals.constant(member);
        let pointer = globals.fresh();
        code.op(op::AccessChain, (types.uint_pointer, pointer, block, member));
        pointer
    }

    /// Sets ABORTED in the control block in use, which other invocations watch, and in the one before the records, which
    /// the host watches. They differ where the device has memory of its own: the host cannot poll that without crossing
    /// the bus at every call, and a reset may discard it. Takes the constants of scope, semantics and 1.
    pub(super) fn set_aborted(&mut self, code: &mut Code, globals: &mut Globals, [scope, semantics, one]: [Id; 3]) {
        let mut addresses = vec![self.arena.control, self.arena.before_records()];
        addresses.dedup();
        for address in addresses {
            let aborted = self.control_at(code, globals, address, ABORTED);
            code.op(op::AtomicStore, (aborted, scope, semantics, one));
        }
    }

    /// Pointer to unit `record + number` of the record area; `base` is from [`Runtime::units`].
    pub(crate) fn unit_pointer(
        &mut self,
        code: &mut Code,
        globals: &mut Globals,
        base: Id,
        record: Id,
        number: u32,
    ) -> Id {
        let uint = globals.uint();
        let types = self.types(globals);
        let mut at = record;
        if number != 0 {
            let number = globals.constant(number);
            at = globals.fresh();
            code.op(op::IAdd, (uint, at, record, number));
        }
        let (pointer, zero) = (globals.fresh(), globals.constant(0));
        code.op(op::AccessChain, (types.unit_pointer, pointer, base, zero, at));
        pointer
    }

    /// Pointer to word `at` of the record area; `base` is from [`Runtime::words`].
    pub(crate) fn word_pointer(&mut self, code: &mut Code, globals: &mut Globals, base: Id, at: Id) -> Id {
        let types = self.types(globals);
        let (pointer, zero) = (globals.fresh(), globals.constant(0));
        code.op(op::AccessChain, (types.uint_pointer, pointer, base, zero, at));
        pointer
    }
}

/// The Boolean constant `value`.
pub(crate) fn bool_constant(globals: &mut Globals, value: bool) -> Id {
    let bool = globals.bool();
    globals.value(if value { op::ConstantTrue } else { op::ConstantFalse }, bool, ())
}

/// A Private variable with the initial value zero.
fn private_zero(globals: &mut Globals, ty: Id, name: &str) -> Id {
    let zero = globals.null(ty);
    let variable = globals.private(ty, zero);
    globals.name(variable, name);
    variable
}
