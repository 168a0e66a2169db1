#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Aborts in the body of a loop, after the stores of some iterations.
void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint k = 0; k < 8; ++k) {
        if (words[i] == k) {
            abortEXT("body %u %u", i, k);
        }
        words[64 + i] += 1;
    }
    words[i] += 1000;
}
