//! Log of calls that reached the test driver, shared by the driver, which fills it, and the tests, which read it.

/// Nodes of a `pNext` chain that the log stores.
pub const CHAIN: usize = 24;
/// Calls of `vkAllocateMemory` that the log stores.
pub const ALLOCATIONS: usize = 4;

/// Calls that reached the test driver. The driver writes it through `vkabortDriverCallLog`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLog {
    /// Objects that were created and not destroyed, over the whole process.
    pub live: u64,
    /// Address of `pQueueCreateInfos` in the last `vkCreateDevice`.
    pub queue_infos: u64,
    /// Address of `pEnabledFeatures` in the last `vkCreateDevice`.
    pub features: u64,
    /// Calls of `vkBeginCommandBuffer` and `vkResetCommandBuffer`.
    pub command_buffer_resets: u64,
    /// Objects that were destroyed with host memory callbacks and created without, or the other way round.
    pub allocator_mismatches: u64,
    /// Addresses of the nodes in the chain of the last `vkCreateDevice`, in order; zeros follow.
    pub chain: [u64; CHAIN],
    /// Number of calls of `vkCreateDevice`.
    pub devices: u32,
    /// Memory types of the last calls of `vkAllocateMemory`, latest first.
    pub memory_types: [u32; ALLOCATIONS],
    /// Calls of `vkAllocateMemory` since the last `vkCreateDevice`.
    pub allocations: u32,
}

// The struct crosses a C interface between two libraries, so it has no padding.
const _: () = assert!(size_of::<CallLog>() == (5 + CHAIN) * 8 + (2 + ALLOCATIONS) * 4);
