// Copies an array: one check, almost no other work.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { uint length; };

void main() {
    const uint index = gl_GlobalInvocationID.x;
    CHECK(index < length, "%u is beyond the array", index);
    to[index] = from[index];
}
