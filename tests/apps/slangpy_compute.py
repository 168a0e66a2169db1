"""A compute kernel in Slang, run by slangpy. Prints a digest of its result."""

import hashlib

import numpy as np
import slangpy as spy

SOURCE = """
uint collatz(uint start)
{
    uint count = 0;
    uint value = start;
    while (value > 1)
    {
        value = value % 2 == 0 ? value / 2 : value * 3 + 1;
        count++;
    }
    return count;
}

[shader("compute")]
[numthreads(64, 1, 1)]
void main(uint3 id: SV_DispatchThreadID, RWStructuredBuffer<uint> lengths)
{
    lengths[id.x] = collatz(id.x + 1);
}
"""

device = spy.Device(type=spy.DeviceType.vulkan, enable_debug_layers=False)
module = device.load_module_from_source("collatz", SOURCE)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("main")]))
lengths = device.create_buffer(
    element_count=4096, struct_size=4, usage=spy.BufferUsage.unordered_access | spy.BufferUsage.copy_source
)
kernel.dispatch(thread_count=[4096, 1, 1], vars={"lengths": lengths})
data = lengths.to_numpy()
print("lengths", hashlib.sha256(data.tobytes()).hexdigest())
