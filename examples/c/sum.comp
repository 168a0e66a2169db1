#version 460
#extension GL_EXT_abort : require

// words[i] = words[words[i]] + 1; aborts on an index beyond the buffer.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Data {
    uint words[];
};

uint look_up(uint index) {
    if (index >= words.length()) {
        abortEXT("index %u is beyond the %d words of the buffer", index, words.length());
    }
    return words[index];
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    words[i] = look_up(words[i]) + 1;
}
