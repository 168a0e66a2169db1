#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// words[i] += 1000, except where words[i] is 7: that invocation aborts before the store.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint value = words[i];
    if (value == 7) {
        abortEXT("word %u is %u", i, value);
    }
    words[i] = value + 1000;
}
