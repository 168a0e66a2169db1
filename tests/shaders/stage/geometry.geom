#version 460
#extension GL_EXT_abort : require

layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 3) out;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(push_constant) uniform Push {
    uint stage;
    uint at;
};

// Aborts in the selected stage and invocation; all others count themselves.
void note(uint i) {
    if (stage == 3 && at == i) {
        abortEXT("geometry %u", i);
    }
    atomicAdd(words[3 * 64 + i], 1u);
}

// Two invocations, each drawing the triangle.
void main() {
    note(gl_InvocationID);
    for (int i = 0; i < 3; ++i) {
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
