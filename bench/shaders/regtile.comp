// Multiplies matrices by 8x8 tiles in registers: as many live values as occupancy allows, and checks in the loop.
const uint TILE = 8;
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Left { vec4 left[]; };
layout(set = 0, binding = 1) readonly buffer Right { vec4 right[]; };
layout(set = 0, binding = 2) writeonly buffer Product { vec4 product[]; };
layout(push_constant) uniform Push { uint stride; uint depth; uint left_length; uint right_length; };

void main() {
    const uint tile = gl_GlobalInvocationID.x;
    const uint row = tile / stride * TILE;
    const uint column = tile % stride * 2;
    vec4 sums[TILE][2];
    for (uint i = 0; i < TILE; ++i)
        sums[i][0] = sums[i][1] = vec4(0);
    for (uint k = 0; k < depth; ++k) {
        const uint in_left = k * stride + row;
        const uint in_right = k * stride + column;
        CHECK(in_left + 1 < left_length, "%u is beyond the left matrix", in_left);
        CHECK(in_right + 1 < right_length, "%u is beyond the right matrix", in_right);
        const vec4 factors[2] = vec4[](left[in_left], left[in_left + 1]);
        const vec4 others[2] = vec4[](right[in_right], right[in_right + 1]);
        for (uint i = 0; i < TILE; ++i)
            for (uint j = 0; j < 2; ++j)
                sums[i][j] += factors[i / 4][i % 4] * others[j];
    }
    for (uint i = 0; i < TILE; ++i)
        for (uint j = 0; j < 2; ++j)
            product[(row + i) * stride + column + j] = sums[i][j];
}
