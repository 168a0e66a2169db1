#version 460
#extension GL_EXT_abort : require

layout(vertices = 3) out;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(push_constant) uniform Push {
    uint stage;
    uint at;
};

// Aborts in the selected stage and invocation; all others count themselves.
void note(uint i) {
    if (stage == 1 && at == i) {
        abortEXT("control %u", i);
    }
    atomicAdd(words[1 * 64 + i], 1u);
}

void main() {
    note(gl_InvocationID);
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        gl_TessLevelOuter[0] = 1.0;
        gl_TessLevelOuter[1] = 1.0;
        gl_TessLevelOuter[2] = 1.0;
        gl_TessLevelInner[0] = 1.0;
    }
}
