#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

uint fails(uint i, uint k) {
    if (words[i] == k) {
        abortEXT("nested %u %u", i, k);
    }
    return k;
}

uint inner(uint i, uint base) {
    uint sum = 0;
    for (uint k = 0; k < 4; ++k) {
        sum += (k & 1) == 0 ? fails(i, base + k) : 0u;
        if (sum > 100) {
            break;
        }
    }
    words[64 + i] += 1;
    return sum;
}

// Loops around a callee with a loop, in a short-circuit expression.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint total = 0;
    for (uint outer = 0; outer < 2; ++outer) {
        for (uint k = 0; k < 2; ++k) {
            if (k == 1 && inner(i, outer * 4) > 1000) {
                return;
            }
            total += 1;
        }
    }
    words[i] += 1000 + total;
}
