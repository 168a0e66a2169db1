#version 460

// A triangle that covers the half of the viewport on one side of its diagonal, where quads have helper invocations.
void main() {
    vec2 corner = vec2(gl_VertexIndex == 1 ? 1.0 : -1.0, gl_VertexIndex == 2 ? 1.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}
