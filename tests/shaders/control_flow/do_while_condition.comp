#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

bool more(uint i, uint k) {
    if (words[i] == k) {
        abortEXT("condition %u %u", i, k);
    }
    return k < 8;
}

// A do-while condition is part of the continue construct.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint k = 0;
    do {
        words[64 + i] += 1;
        ++k;
    } while (more(i, k));
    words[i] += 1000;
}
