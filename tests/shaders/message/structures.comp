#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Nested structures with arrays of vectors, matrices, arrays and structures.
struct Inner {
    int i;
    vec2 v;
};

struct Outer {
    Inner inner;
    float scalars[3];
    Inner inners[2];
    mat2 m;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        float f = float(i);
        Inner a = Inner(-int(i), vec2(f, 0.5));
        Inner b = Inner(100, vec2(-1.0, -2.0));
        Outer outer = Outer(a, float[3](1.0, 2.0, f), Inner[2](b, a), mat2(1.0, 2.0, 3.0, f));
        vec3 vectors[2] = vec3[2](vec3(f), vec3(1.0, 2.0, 3.0));
        uint nested[2][3] = uint[2][3](uint[3](1, 2, 3), uint[3](4, 5, i));
        abortEXT("nested", a, outer, vectors, nested);
    }
    words[i] += 1000;
}
