#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

uint next(uint i, uint k) {
    if (words[i] == k) {
        abortEXT("increment %u %u", i, k);
    }
    return k + 1;
}

// The call is in the continue construct, where a return is not allowed.
void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint k = 0; k < 8; k = next(i, k)) {
        words[64 + i] += 1;
    }
    words[i] += 1000;
}
