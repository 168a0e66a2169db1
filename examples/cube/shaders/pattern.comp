#version 460
#ifdef ABORTS
#extension GL_EXT_abort : require
#endif

// Computes the cube's texture: the root of z^3 = 1 that Newton's method finds from each texel, darker the later it does.
// Aborts where it finds none.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba8) uniform writeonly image2D pattern;
layout(push_constant) uniform Constants {
    layout(offset = 88) float tolerance;
};

const vec3 COLORS[3] = vec3[](vec3(0.95, 0.45, 0.10), vec3(0.10, 0.45, 0.85), vec3(0.85, 0.85, 0.75));
const int MAX_STEPS = 1000;

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    vec2 z = (vec2(texel) + 0.5) / vec2(imageSize(pattern)) * 3.0 - 1.5;
    int steps = 0;
    float change = 1.0;
    // Without the check, a negative tolerance makes this loop endless.
    while (change > tolerance) {
        vec2 squared = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y);
        vec2 inverse = vec2(squared.x, -squared.y) / dot(squared, squared);
        vec2 next = (2.0 * z + inverse) / 3.0;
        change = distance(z, next);
        z = next;
        ++steps;
#ifdef ABORTS
        if (steps > MAX_STEPS) {
            abortEXT("texel (%v2d): no end after %d steps: change %f, tolerance %f",
                     texel, MAX_STEPS, change, tolerance);
        }
#endif
    }
    int root = z.x > 0.0 ? 0 : z.y > 0.0 ? 1 : 2;
    vec2 from_edge = min(vec2(texel), vec2(imageSize(pattern) - 1 - texel));
    float border = min(from_edge.x, from_edge.y) < 6.0 ? 0.35 : 1.0;
    imageStore(pattern, texel, vec4(COLORS[root] * border * pow(0.93, float(steps - 3)), 1.0));
}
