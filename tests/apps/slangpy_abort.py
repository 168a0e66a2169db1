"""A Slang kernel that aborts in one thread, run by slangpy, which prints the messages of lost devices itself."""

import slangpy as spy

SOURCE = """
[shader("compute")]
[numthreads(64, 1, 1)]
void main(uint3 id: SV_DispatchThreadID, RWStructuredBuffer<uint> words)
{
    if (id.x == 40)
        abort("word %u is %u", id.x, id.x * 2);
    words[id.x] = id.x;
}
"""

device = spy.Device(type=spy.DeviceType.vulkan)
print("shader-abort", spy.Feature.shader_abort in device.features)
module = device.load_module_from_source("abort", SOURCE)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("main")]))
words = device.create_buffer(
    element_count=64, struct_size=4, usage=spy.BufferUsage.unordered_access | spy.BufferUsage.copy_source
)
try:
    kernel.dispatch(thread_count=[64, 1, 1], vars={"words": words})
    device.wait()
    words.to_numpy()
except RuntimeError as error:
    print("lost:", error)
