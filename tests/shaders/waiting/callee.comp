#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) coherent volatile buffer Words {
    uint words[];
};

bool is_set() {
    if (atomicOr(words[1], 0u) == 0u) {
        return false;
    }
    return true;
}

// Invocation 0 aborts before it sets the flag that the other workgroup waits for.
void main() {
    if (gl_WorkGroupID.x == 0) {
        if (gl_LocalInvocationIndex == 0) {
            if (words[0] == 7) {
                abortEXT("never sets the flag");
            }
            atomicExchange(words[1], 1u);
        }
    } else {
        while (!is_set()) {
        }
        words[2 + gl_LocalInvocationIndex] = 1;
    }
}
