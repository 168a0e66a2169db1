//! Options of a rewrite, for callers and passes. The same words and options give the same output on every machine.
#![forbid(unsafe_code)]

mod sanitize;
mod sanitize_filter;

pub use sanitize::{
    CHECKS, Check, CheckRow, Checks, DEFAULT_LOOP_BUDGET, DEFAULT_SHARED_MEMORY, LoopTimeout, Sanitize,
};
pub use sanitize_filter::{PlantingPlace, SanitizeFilter};

use std::collections::BTreeMap;
use vkabort_record::layout::{CONTROL_BYTES, DEFAULT_MAX_MESSAGE_BYTES, UNIT_BYTES, minimum_capacity};
use vkabort_record::shadow_area::workgroup_words;
use vkabort_spirv::lowered::LoweredFeatures;

/// Rounds of [`Trap::Hang`]: a minute where one load of memory that others write takes a microsecond. Watchdogs are due
/// after some seconds.
pub const DEFAULT_HANG_ITERATIONS: u32 = 1 << 26;

/// Bytes of values at an abort.
pub const DEFAULT_VALUES_SIZE: u32 = 128;

/// Options of a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The features to lower; the module keeps the others. Aborts are lowered with all constant data.
    pub lowers: LoweredFeatures,
    /// Addresses and size of the device's arena.
    pub arena: Arena,
    /// How an invocation ends once its message is written.
    pub trap: Trap,
    /// Maximum number of iterations of the loop of [`Trap::Hang`].
    pub hang_iterations: u32,
    /// The loops that poll for aborts of other invocations.
    pub loop_poll: LoopPoll,
    /// Largest message in bytes (`maxShaderAbortMessageSize`); a module with a larger one is rejected.
    pub max_message_bytes: u32,
    /// Number of aborts, in module order, that send a message and lose the device. The others only end their invocations: to
    /// find an abort by bisection.
    pub max_sites: Option<u32>,
    /// Returns of a function in a row that become exits of one loop, where there are half as many again: Mesa nests the code behind each
    /// return, and takes long to compile loops with many exits. Other values than that of the default are for tests.
    pub loop_exits: usize,
    /// Orders a record's words by memory barriers. CPU drivers do not need them: the work is complete when the host reads, in
    /// its own memory. Mesa 22.3 (llvmpipe) turns a memory barrier into a control barrier and drops the remaining work of
    /// diverged invocations.
    pub memory_barriers: bool,
    /// Stores records word by word, volatile so that compilers do not join the stores. Adreno gathers the words of a vector
    /// store in consecutive registers: Mesa 26.2's Turnip lost a quarter to a half of the waves of shaders with few
    /// registers. Other compilers make more code of it (DG2 a third more instructions, navi31 a fifth more bytes).
    pub scalar_stores: bool,
    /// Gives the exits of loops a branch of their own. If no invocation takes a block, Mesa's llvmpipe since Mesa 25 jumps over it if it
    /// branches, and executes it with none active if it does not. A loop with one abort took half the time with Mesa 26.
    pub branches_at_exits: bool,
    /// Begins the loops that wrap and divide functions with a break that is never taken, so that nothing in them dominates the code behind
    /// them. NIR removes duplicates before it turns `OpKill` into a break: a loop and the code behind it share the address of a
    /// descriptor, which each invocation then stores. Mesa 26's llvmpipe executes the rest of a loop that all invocations have left, and
    /// crashes there at a load from a uniform buffer, since none has stored an address.
    pub breaks_at_starts: bool,
    /// Makes the conditions of checks that may depend on uniform buffers read other memory first. Mesa's lavapipe looks for uniforms in
    /// conditions, and Mesa 22.3 crashes if it finds one in the fourth buffer or a later one.
    pub opaque_conditions: bool,
    /// Makes planted code read values of a loop behind it from arrays. SwiftShader and Mesa 22.3 (llvmpipe) give invocations that left a
    /// divergent loop the results of later iterations.
    pub remembers_loop_values: bool,
    /// Leaves out of records what the host can add, because it has rewritten the module of every record in this process: the
    /// constant words of messages, STAGE, SIZE, and a LocalInvocationIndex that follows from GlobalInvocationId.
    pub compact_records: bool,
    /// The checks to plant first. Unlike the features in `lowers`, they are planted into every module.
    pub sanitize: Sanitize,
    /// Memory in which the check `races` keeps the shadow of arrays that shared memory has no room for. `None`: they are left out.
    pub shadow_area: Option<ShadowArea>,
    /// The values at an abort that are sent behind its message.
    pub values: Values,
    /// Most bytes of them.
    pub values_size: u32,
    /// Memory to which prints write records. `None`: prints stay as they are.
    pub prints: Option<Prints>,
    /// Specialisation data by `SpecId`, for modules in which `OpSpecConstantDataKHR` has one.
    pub specialization: BTreeMap<u32, Vec<u8>>,
}

/// Device addresses and size of the arena; see [`vkabort_record::layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Address of the control block, a multiple of 16: right before the records, or in memory that is nearer to the device.
    pub control: u64,
    /// Address of the record area, a multiple of 16. There is always a control block right before it: of one that is not
    /// `control` only ABORTED is written, for the host.
    pub records: u64,
    /// Units of the record area.
    pub capacity: u32,
}

impl Arena {
    /// An arena of `bytes` bytes at `address` that starts with its control block.
    pub fn at(address: u64, bytes: u32) -> Self {
        Self {
            control: address,
            records: address.wrapping_add(u64::from(CONTROL_BYTES)),
            capacity: bytes.saturating_sub(CONTROL_BYTES) / UNIT_BYTES,
        }
    }

    /// The arena with its control block at `control`.
    #[must_use]
    pub fn with_control(self, control: u64) -> Self {
        Self { control, ..self }
    }

    /// Address of the control block right before the records.
    pub fn before_records(&self) -> u64 {
        self.records.wrapping_sub(u64::from(CONTROL_BYTES))
    }

    /// Minimum size of an arena in bytes, for messages of up to `max_message_bytes`.
    pub fn minimum_bytes(max_message_bytes: u32) -> u32 {
        CONTROL_BYTES + minimum_capacity(max_message_bytes) * UNIT_BYTES
    }
}

/// Memory to which `NonSemantic.DebugPrintf` writes records that do not end the invocation; see [`vkabort_record::print::layout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prints {
    /// Device address of the print area, a multiple of 64.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u32,
    /// SPIR-V execution models whose prints are left out: of functions that an entry point of one of them reaches. For devices that
    /// cannot write a record in such a stage.
    pub skipped_models: Vec<u32>,
}

/// Numbers that the prints of a code have on the device; see [`vkabort_record::print::layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintNumbers {
    /// NUMBER of the first one. Those of the others follow it.
    pub first: u32,
    /// The counter of the first one. `None`: all share one.
    pub counter: Option<u32>,
}

/// Memory for the shadow of arrays in shared memory; see [`vkabort_record::shadow_area`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowArea {
    /// Its device address, a multiple of 16.
    pub address: u64,
    /// Words of a workgroup in each block.
    pub words: u32,
}

/// How an aborting invocation ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trap {
    /// It returns; the layer reports the loss.
    #[default]
    Return,
    /// It stores to an unmapped address, so that the driver loses the device.
    Fault,
    /// It loops until the driver's watchdog resets the device.
    Hang,
}

/// Selection of the values at an abort that are sent behind its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// The operands of the condition that led to it; in modules with debug information also variables.
    Auto,
    /// The operands and variables.
    On,
    /// None.
    #[default]
    Off,
}

/// Selection of the loops that poll the arena's ABORTED word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopPoll {
    /// Loops that read memory which other invocations write, and loops without an exit.
    #[default]
    Auto,
    /// Every loop.
    All,
    /// None.
    Off,
}

impl Default for Options {
    /// Memory at addresses that no driver returns: to inspect output, not to execute it.
    fn default() -> Self {
        Self {
            lowers: LoweredFeatures::ALL,
            arena: Arena::at(0x4142_4F52_5400, 1 << 20),
            trap: Trap::Return,
            hang_iterations: DEFAULT_HANG_ITERATIONS,
            loop_poll: LoopPoll::Auto,
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            compact_records: false,
            max_sites: None,
            loop_exits: 16,
            memory_barriers: true,
            scalar_stores: false,
            branches_at_exits: false,
            breaks_at_starts: false,
            opaque_conditions: false,
            remembers_loop_values: false,
            sanitize: Sanitize::default(),
            shadow_area: Some(ShadowArea {
                address: 0x4142_5348_4400,
                words: workgroup_words(DEFAULT_SHARED_MEMORY),
            }),
            values: Values::Off,
            values_size: DEFAULT_VALUES_SIZE,
            prints: None,
            specialization: BTreeMap::new(),
        }
    }
}
