#version 460
#extension GL_EXT_abort : require

layout(triangles, equal_spacing, ccw) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(push_constant) uniform Push {
    uint stage;
    uint at;
};

// Aborts in the selected stage and invocation; all others count themselves.
void note(uint i) {
    if (stage == 2 && at == i) {
        abortEXT("evaluation %u", i);
    }
    atomicAdd(words[2 * 64 + i], 1u);
}

void main() {
    note(gl_TessCoord.x == 1.0 ? 0 : gl_TessCoord.y == 1.0 ? 1 : 2);
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position +
                  gl_TessCoord.z * gl_in[2].gl_Position;
}
