#version 460
#extension GL_GOOGLE_include_directive : require
#include "vkabort_assert.glsl"

// Each invocation breaks at most one assertion: invocations 3, 5, 7 and 9.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Data {
    uint values[64];
};

const uint LIMIT = 64;

void main() {
    uint i = gl_GlobalInvocationID.x;
    float ratio = float(i) / (i == 9 ? 0.0 : 2.0);
    vec3 point = vec3(1.0, ratio, 2.0);

    ASSERT(i != 3);
    ASSERT_EQ(i == 5 ? i + 1 : i, i);
    ASSERT_LT(i * (i == 7 ? 10 : 1), LIMIT);
    ASSERT_FINITE(point);
    if (i > 100)
        ASSERT_LT(i, LIMIT);
    else
        values[i] = i;
}
