// The tiled multiplication with checks of every index, in the loop and before barriers.
const uint TILE = 16;
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(set = 0, binding = 2) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Push { uint columns; uint depth; uint left_length; uint right_length; };
shared float left_tile[TILE][TILE];
shared float right_tile[TILE][TILE];

void main() {
    const uvec2 own = gl_LocalInvocationID.xy;
    const uvec2 at = gl_GlobalInvocationID.xy;
    float sum = 0;
    for (uint start = 0; start < depth; start += TILE) {
        const uint in_left = at.y * depth + start + own.x;
        const uint in_right = (start + own.y) * columns + at.x;
        CHECK(in_left < left_length, "%u is beyond the left matrix", in_left);
        CHECK(in_right < right_length, "%u is beyond the right matrix", in_right);
        left_tile[own.y][own.x] = left[in_left];
        right_tile[own.y][own.x] = right[in_right];
        barrier();
        for (uint i = 0; i < TILE; ++i)
            sum += left_tile[own.y][i] * right_tile[i][own.x];
        barrier();
    }
    product[at.y * columns + at.x] = sum;
}
