#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// An abort two calls deep, in functions that return values. No later store may happen at any depth.
uint checked(uint i) {
    if (words[i] == 7) {
        abortEXT("checked(%u)", i);
    }
    return words[i];
}

uint doubled(uint i) {
    uint value = checked(i);
    words[i + 64] = value;
    return value * 2;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint value = doubled(i);
    words[i] = value;
}
