#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Vectors of every length and kind, separated by scalars so that offsets are not multiples of 16.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        float f = float(i);
        abortEXT("%v2f|%u|%v3f|%u|%v4f|%v3d|%v2u|%v4u", vec2(f, -f), i, vec3(f + 0.25, 1.0, 2.0), i + 1,
                 vec4(1.0, f, 3.0, 4.0), ivec3(-1, int(i), -3), uvec2(i, 77), bvec4(true, false, i == 5, i != 5));
    }
    words[i] += 1000;
}
