// Multiplies matrices by 16x16 tiles in shared memory: checks before the loop.
const uint TILE = 16;
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(set = 0, binding = 2) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Push { uint rows; uint columns; uint depth; };
shared float left_tile[TILE][TILE];
shared float right_tile[TILE][TILE];

void main() {
    const uvec2 own = gl_LocalInvocationID.xy;
    const uvec2 at = gl_GlobalInvocationID.xy;
    CHECK(at.y < rows, "row %u is beyond the matrix", at.y);
    CHECK(at.x < columns, "column %u is beyond the matrix", at.x);
    float sum = 0;
    for (uint start = 0; start < depth; start += TILE) {
        left_tile[own.y][own.x] = left[at.y * depth + start + own.x];
        right_tile[own.y][own.x] = right[(start + own.y) * columns + at.x];
        barrier();
        for (uint i = 0; i < TILE; ++i)
            sum += left_tile[own.y][i] * right_tile[i][own.x];
        barrier();
    }
    product[at.y * columns + at.x] = sum;
}
