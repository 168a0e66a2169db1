#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

layout(std140, set = 0, binding = 1) uniform Block {
    uvec4 block[4095];
};

// 65,536 bytes: a string of 15 characters and its NUL, then 65,520 bytes of a uniform buffer.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        abortEXT("exactly 64 KiB.", block);
    }
    words[i] += 1000;
}
