#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Square and rectangular matrices, column by column.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        float f = float(i);
        mat2 square = mat2(f, 2.0, 3.0, 4.0);
        mat3x2 wide = mat3x2(1.0, f, 3.0, 4.0, 5.0, 6.0);
        mat2x4 tall = mat2x4(1.0, 2.0, f, 4.0, 5.0, 6.0, 7.0, 8.0);
        abortEXT("matrices", square, wide, tall);
    }
    words[i] += 1000;
}
