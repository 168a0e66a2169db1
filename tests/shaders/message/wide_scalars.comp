#version 460
#extension GL_EXT_abort : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// 64-bit values, also at offsets that are not multiples of 8.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        uint64_t big = (uint64_t(0x01234567u) << 32) | uint64_t(0x89ABCDE0u + i);
        abortEXT("%lu %u %ld %f", big, i, -int64_t(big), double(i) + 0.125LF);
    }
    words[i] += 1000;
}
