#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// One argument of every 32-bit scalar type, with conversions of every letter.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint value = words[i];
    if (value == 7) {
        abortEXT("%d %i %u %x %f %u", -int(i), int(value) * 1000, value, 0xDEADBEEFu + i, float(i) + 0.5, i == 5);
    }
    words[i] += 1000;
}
