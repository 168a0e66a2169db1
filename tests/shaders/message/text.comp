#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Text without arguments, with non-ASCII bytes.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        abortEXT("naïve – 文字, no arguments");
    }
    words[i] += 1000;
}
