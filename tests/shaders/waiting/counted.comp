#version 460
#extension GL_EXT_abort : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 32) in;

// As Tint of Dawn writes storage buffers.
layout(std430, set = 0, binding = 0) nonprivate buffer Words {
    uint words[];
};

// Counts to a number in memory that other invocations also write: it waits for none of them.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i == 0 && words[i] == 7) {
        abortEXT("counts nothing");
    }
    uint sum = 0;
    for (uint k = 0; k < words[20]; k++) {
        sum += words[k] + 1;
    }
    if (i > 20) {
        words[i] = sum;
    }
}
