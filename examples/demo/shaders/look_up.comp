#version 460
#extension GL_EXT_abort : require

// results[i] = table[indices[i]]; aborts on an index beyond the table.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Data {
    uint indices[64];
    float table[16];
    float results[64];
};

float look_up(uint i) {
    uint index = indices[i];
    if (index >= table.length()) {
        abortEXT("results[%u]: index %u is outside a table of %u entries starting with %f", i, index,
                 uint(table.length()), table[0]);
    }
    return table[index];
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    results[i] = look_up(i);
}
