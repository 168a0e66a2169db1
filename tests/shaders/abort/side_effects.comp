#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(set = 0, binding = 1, r32ui) uniform uimageBuffer texels;

void check(uint i) {
    if (words[i] == 7) {
        abortEXT("word %u", i);
    }
}

// After the abort in the callee, no atomic, image write or image atomic may happen.
void main() {
    uint i = gl_GlobalInvocationID.x;
    check(i);
    atomicAdd(words[i], 1000u);
    imageStore(texels, int(i), uvec4(i + 1));
    imageAtomicAdd(texels, 64, 1u);
}
