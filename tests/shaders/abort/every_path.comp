#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Every invocation aborts, on one of two paths.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[0] == 7) {
        abortEXT("first path, %u", i);
    } else {
        abortEXT("second path, %u", i);
    }
}
