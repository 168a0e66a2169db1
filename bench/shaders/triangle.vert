// The vertex stage of the fragment shader, without a check.
layout(location = 0) out vec2 coordinates;
layout(location = 1) flat out uint material;
layout(location = 2) out vec3 normal;

void main() {
    coordinates = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    material = gl_VertexIndex;
    normal = vec3(coordinates, 1);
    gl_Position = vec4(coordinates * 2 - 1, 0, 1);
}
