#version 460

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// Changes nothing.
void main() {
    if (words[0] == 0xFFFFFFFF) {
        words[0] = 0;
    }
}
