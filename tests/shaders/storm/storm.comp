#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Every invocation aborts if the first word is 7.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[0] == 7) {
        abortEXT("storm %u", i);
    }
    if (i < words.length()) {
        words[i] = i;
    }
}
