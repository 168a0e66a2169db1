#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(push_constant) uniform Push {
    uint at;
};

// Invocation `at` aborts.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i == at) {
        abortEXT("invocation %u", i);
    }
}
