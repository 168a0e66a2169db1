#version 460

// words[i] = number of steps from words[i] to 1: an even number is halved, an odd one becomes three times itself plus 1.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Data {
    uint words[64];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = words[i];
    uint steps = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        steps++;
    }
    words[i] = steps;
}
