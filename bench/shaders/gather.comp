// Sums elements by index: a check in a loop.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Indices { uint indices[]; };
layout(set = 0, binding = 1) readonly buffer Elements { vec4 elements[]; };
layout(set = 0, binding = 2) writeonly buffer Sums { vec4 sums[]; };
layout(push_constant) uniform Push { uint rounds; uint length; };

void main() {
    const uint row = gl_GlobalInvocationID.x;
    vec4 sum = vec4(0);
    for (uint i = 0; i < rounds; ++i) {
        const uint index = indices[row * rounds + i];
        CHECK(index < length, "index %u is beyond the elements", index);
        sum += elements[index];
    }
    sums[row] = sum;
}
