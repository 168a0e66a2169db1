#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32, local_size_x_id = 2) in;

layout(constant_id = 0) const uint LIMIT = 64;
layout(constant_id = 1) const bool IS_STRICT = true;
layout(constant_id = 3) const float SCALE = 0.5;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7 && IS_STRICT) {
        abortEXT("word %u of %u is %f", i, LIMIT, float(i) * SCALE);
    }
    words[i] = LIMIT;
}
