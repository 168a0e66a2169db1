#version 460
#extension GL_EXT_abort : require

layout(push_constant) uniform Push {
    uint vertex;
};

// A triangle that covers the viewport; the selected vertex aborts.
void main() {
    if (gl_VertexIndex == vertex) {
        abortEXT("vertex %d of instance %d", gl_VertexIndex, gl_InstanceIndex);
    }
    vec2 corner = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}
