//! What instrumented modules share: the flag, the identity, pointers into the arena. Each is made when something first asks
//! for it; the shared functions are in `functions`.

pub(in crate::pass::abort) mod functions;
pub(in crate::pass::abort) mod identity;
mod trap;

use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::options::{Arena, Options, Trap};
use crate::spv::op::memory_operands::{ALIGNED, NON_PRIVATE_POINTER};
use crate::spv::op::{capability, decoration, memory_model, scope, storage_class};
use crate::spv::{Code, Id, op};
use vkabort_record::layout::{ABORTED_OFFSET, DROPPED_OFFSET, UNIT_BYTES, UNIT_WORDS};
use vkabort_record::site::ModuleHash;

/// Ids of what a module shares.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(in crate::pass::abort) arena: Arena,
    pub(in crate::pass::abort) trap: Trap,
    pub(in crate::pass::abort) hang_iterations: u32,
    pub(in crate::pass::abort) memory_barriers: bool,
    pub(in crate::pass::abort) hash: ModuleHash,
    /// The module has the Vulkan memory model.
    pub(in crate::pass::abort) vulkan_memory_model: bool,
    pub(in crate::pass::abort) scope: u32,
    pub(in crate::pass::abort) flag: Option<Id>,
    pub(in crate::pass::abort) stage: Option<Id>,
    pub(in crate::pass::abort) identity: Option<Id>,
    pub(in crate::pass::abort) views: Option<Views>,
    /// Addresses as constants of two words: the control block's and the record area's.
    addresses: Vec<(u64, Id)>,
    pub(in crate::pass::abort) reserve: Option<Id>,
    pub(in crate::pass::abort) commit: Option<Id>,
    pub(in crate::pass::abort) put_bytes: Option<Id>,
    pub(in crate::pass::abort) poll: Option<Id>,
    /// The functions made so far.
    pub(crate) functions: Code,
}

/// Pointer types into the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Views {
    pub(crate) uint_pointer: Id,
    pub(crate) unit_pointer: Id,
    pub(in crate::pass::abort) control_pointer: Id,
    pub(in crate::pass::abort) units_block_pointer: Id,
    pub(in crate::pass::abort) words_block_pointer: Id,
    pub(crate) unit_type: Id,
}

impl Runtime {
    pub(crate) fn new(index: &Index<'_>, options: &Options, hash: ModuleHash) -> Self {
        let model = index.inst(index.sections.memory_model).word(2);
        let vulkan_memory_model = model == memory_model::Vulkan;
        let device = !vulkan_memory_model || index.has_capability(capability::VulkanMemoryModelDeviceScope);
        Self {
            arena: options.arena,
            trap: options.trap,
            hang_iterations: options.hang_iterations,
            memory_barriers: options.memory_barriers,
            hash,
            vulkan_memory_model,
            scope: if device { scope::Device } else { scope::QueueFamily },
            flag: None,
            stage: None,
            identity: None,
            views: None,
            addresses: Vec::with_capacity(2),
            reserve: None,
            commit: None,
            put_bytes: None,
            poll: None,
            functions: Code::with_room(512),
        }
    }

    /// The scope at which records are made available.
    pub(in crate::pass::abort) fn scope(&self) -> u32 {
        self.scope
    }

    /// Global variables made here, for the interfaces of SPIR-V 1.4 and later.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Id> {
        [self.flag, self.stage, self.identity].into_iter().flatten()
    }

    /// The flag that tells callers that an invocation has aborted: a Private variable, false at first.
    pub(crate) fn flag(&mut self, globals: &mut Globals) -> Id {
        *self.flag.get_or_insert_with(|| {
            let bool = globals.bool();
            let no = Self::no(globals);
            let flag = globals.private(bool, no);
            globals.name(flag, "vkabort_aborted");
            flag
        })
    }

    pub(crate) fn yes(globals: &mut Globals) -> Id {
        let bool = globals.bool();
        globals.value(op::ConstantTrue, bool, &[])
    }

    pub(crate) fn no(globals: &mut Globals) -> Id {
        let bool = globals.bool();
        globals.value(op::ConstantFalse, bool, &[])
    }

    /// Private variable with the execution model of the entry point.
    pub(crate) fn stage(&mut self, globals: &mut Globals) -> Id {
        *self.stage.get_or_insert_with(|| {
            let uint = globals.uint();
            let none = globals.null(uint);
            let stage = globals.private(uint, none);
            globals.name(stage, "vkabort_stage");
            stage
        })
    }

    /// Private variable with the four words of the invocation's identity.
    pub(crate) fn identity(&mut self, globals: &mut Globals) -> Id {
        *self.identity.get_or_insert_with(|| {
            let uint = globals.uint();
            let uvec4 = globals.vector(uint, 4);
            let none = globals.null(uvec4);
            let identity = globals.private(uvec4, none);
            globals.name(identity, "vkabort_identity");
            identity
        })
    }

    pub(crate) fn views(&mut self, globals: &mut Globals) -> Views {
        *self.views.get_or_insert_with(|| {
            const CLASS: u32 = storage_class::PhysicalStorageBuffer;
            let uint = globals.uint();
            let unit_type = globals.vector(uint, UNIT_WORDS);
            let block = |globals: &mut Globals, types: &[Id], offsets: &[u32]| {
                let block = globals.structure(types);
                globals.decorate(block, decoration::Block, &[]);
                for (member, offset) in (0..).zip(offsets) {
                    globals.decorate_member(block, member, decoration::Offset, &[*offset]);
                }
                globals.pointer(CLASS, block)
            };
            let control_pointer = block(globals, &[uint; 2], &[ABORTED_OFFSET, DROPPED_OFFSET]);
            let units = globals.runtime_array(unit_type, UNIT_BYTES);
            let words = globals.runtime_array(uint, 4);
            let units_block_pointer = block(globals, &[units], &[0]);
            let words_block_pointer = block(globals, &[words], &[0]);
            Views {
                uint_pointer: globals.pointer(CLASS, uint),
                unit_pointer: globals.pointer(CLASS, unit_type),
                control_pointer,
                units_block_pointer,
                words_block_pointer,
                unit_type,
            }
        })
    }

    /// Memory operands of a store to or load from the arena.
    pub(crate) fn access(&self, alignment: u32) -> [u32; 2] {
        let shared = if self.vulkan_memory_model {
            NON_PRIVATE_POINTER
        } else {
            0
        };
        [ALIGNED | shared, alignment]
    }

    pub(in crate::pass::abort) fn address(
        &mut self,
        code: &mut Code,
        globals: &mut Globals,
        ty: Id,
        address: u64,
    ) -> Id {
        let known = self
            .addresses
            .iter()
            .find(|known| known.0 == address)
            .map(|known| known.1);
        let parts = known.unwrap_or_else(|| {
            let uint = globals.uint();
            let uvec2 = globals.vector(uint, 2);
            let (low, high) = (
                globals.constant(address as u32),
                globals.constant((address >> 32) as u32),
            );
            let parts = globals.value(op::ConstantComposite, uvec2, &[low, high]);
            self.addresses.push((address, parts));
            parts
        });
        let pointer = globals.fresh();
        code.op(op::Bitcast, &[ty, pointer, parts]);
        pointer
    }

    /// Base pointer of the record area as an array of units.
    pub(crate) fn units(&mut self, code: &mut Code, globals: &mut Globals) -> Id {
        let ty = self.views(globals).units_block_pointer;
        self.address(code, globals, ty, self.arena.records)
    }

    /// Base pointer of the record area as an array of words.
    pub(crate) fn words(&mut self, code: &mut Code, globals: &mut Globals) -> Id {
        let ty = self.views(globals).words_block_pointer;
        self.address(code, globals, ty, self.arena.records)
    }

    /// Pointer to a word of the control block in use: ABORTED is member 0, DROPPED member 1.
    pub(in crate::pass::abort) fn control(&mut self, code: &mut Code, globals: &mut Globals, member: u32) -> Id {
        self.control_at(code, globals, self.arena.control, member)
    }

    fn control_at(&mut self, code: &mut Code, globals: &mut Globals, address: u64, member: u32) -> Id {
        let views = self.views(globals);
        let base = self.address(code, globals, views.control_pointer, address);
        let member = globals.constant(member);
        let pointer = globals.fresh();
        code.op(op::AccessChain, &[views.uint_pointer, pointer, base, member]);
        pointer
    }

    /// Sets ABORTED, with the constants of scope, semantics and 1: in the control block in use, which other invocations
    /// watch, and in the one before the records, which the host watches. It is the same one, unless the device has nearer
    /// memory: there the host would have to read over the bus at every call, and a reset could take it away.
    pub(in crate::pass::abort) fn set_aborted(
        &mut self,
        code: &mut Code,
        globals: &mut Globals,
        [scope, semantics, one]: [Id; 3],
    ) {
        let (used, before) = (self.arena.control, self.arena.before_records());
        for address in [Some(used), Some(before).filter(|_| before != used)]
            .into_iter()
            .flatten()
        {
            let aborted = self.control_at(code, globals, address, 0);
            code.op(op::AtomicStore, &[aborted, scope, semantics, one]);
        }
    }

    /// Pointer to unit `record` + `number` of the record area.
    pub(crate) fn unit_pointer(
        &mut self,
        code: &mut Code,
        globals: &mut Globals,
        base: Id,
        record: Id,
        number: u32,
    ) -> Id {
        let uint = globals.uint();
        let views = self.views(globals);
        let mut at = record;
        if number != 0 {
            let number = globals.constant(number);
            at = globals.fresh();
            code.op(op::IAdd, &[uint, at, record, number]);
        }
        let (pointer, zero) = (globals.fresh(), globals.constant(0));
        code.op(op::AccessChain, &[views.unit_pointer, pointer, base, zero, at]);
        pointer
    }

    /// Pointer to word `at` of the record area.
    pub(crate) fn word_pointer(&mut self, code: &mut Code, globals: &mut Globals, base: Id, at: Id) -> Id {
        let views = self.views(globals);
        let (pointer, zero) = (globals.fresh(), globals.constant(0));
        code.op(op::AccessChain, &[views.uint_pointer, pointer, base, zero, at]);
        pointer
    }
}
