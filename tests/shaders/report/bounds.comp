#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Two calls deep: the report shows the call path.
uint look_up(uint index, vec2 at) {
    if (index > 1000) {
        abortEXT("index %u at %v2f is out of bounds", index, at);
    }
    return words[index];
}

uint sum(uint first) {
    uint total = 0;
    for (uint i = 0; i < 2; i++) {
        total += look_up(first + i, vec2(first, 0.5));
    }
    return total;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 8) {
        abortEXT("word %u is eight", i);
    }
    words[i] = sum(words[i] == 7 ? 4000 : 0);
}
