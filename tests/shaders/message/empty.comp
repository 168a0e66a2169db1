#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// An abort without a message, which sends an empty string.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        abortEXT();
    }
    words[i] += 1000;
}
