#version 460

layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

uint value;

// `count` iterations, which compilers cannot compute in advance.
uint iterate(uint count) {
    uint i = 0;
    while (i < count) {
        value = value * 1664525 + 1013904223;
        i += 1 + (value & words[6]);
    }
    return i;
}

// Four loops of words[0] iterations each, the last two with a count that differs between invocations as far as compilers know.
// Their counts of iterations are written to words[1] to words[4].
void main() {
    value = words[5];
    uint count = words[0];
    uint divergent = count + (gl_LocalInvocationIndex & words[6]);
    uvec4 counts = uvec4(iterate(count), iterate(count), iterate(divergent), iterate(divergent));
    if (gl_LocalInvocationIndex == 0) {
        for (uint i = 0; i < 4; i++) {
            words[1 + i] = counts[i];
        }
        words[5] = value;
    }
}
