#version 460
#extension GL_EXT_abort : require

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(push_constant) uniform Push {
    uint stage;
    uint at;
};

layout(set = 0, binding = 1, r32ui) uniform uimageBuffer texels;
layout(location = 0) out vec4 color;

// Aborts in the selected stage and invocation; all others count themselves.
void note(uint i) {
    if (stage == 4 && at == i) {
        abortEXT("fragment %u", i);
    }
    atomicAdd(words[4 * 64 + i], 1u);
}

// In one row, the selected pixel aborts before its store, atomic, image write and colour.
void main() {
    color = vec4(1.0);
    if (uint(gl_FragCoord.y) == 3) {
        uint i = uint(gl_FragCoord.x);
        note(i);
        imageStore(texels, int(i), uvec4(i + 1));
        imageAtomicAdd(texels, int(64 + i), 5u);
    }
}
