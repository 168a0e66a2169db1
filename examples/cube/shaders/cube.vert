#version 460
#ifdef ABORTS
#extension GL_EXT_abort : require
#endif

// Turns the cube and projects it. Aborts on a position outside the cube.

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;

layout(push_constant) uniform Constants {
    mat4 projection;
    vec4 rotation; // a unit quaternion
};

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec2 out_texcoord;

vec3 rotated(vec3 v) {
    return v + 2.0 * cross(rotation.xyz, cross(rotation.xyz, v) + rotation.w * v);
}

void main() {
#ifdef ABORTS
    // False for NaN, too.
    bool is_valid = all(lessThanEqual(abs(position), vec3(1.0)));
    if (!is_valid) {
        abortEXT("vertex %d is corrupt: position (%v3f)", gl_VertexIndex, position);
    }
#endif
    out_position = rotated(position);
    out_normal = rotated(normal);
    out_texcoord = texcoord;
    gl_Position = projection * vec4(out_position, 1.0);
}
