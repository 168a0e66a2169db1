#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

void check(uint i, uint k) {
    if (words[i] == k) {
        abortEXT("switch %u %u", i, k);
    }
}

// Calls that may abort in the cases of a switch, with and without fallthrough, inside a loop.
void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint k = 0; k < 8; ++k) {
        switch (k & 3) {
        case 0:
            check(i, k);
            words[64 + i] += 1;
        case 1:
            words[64 + i] += 10;
            break;
        case 2:
            if (words[i] == 2) {
                abortEXT("case %u %u", i, k);
            }
            words[64 + i] += 100;
            break;
        default:
            check(i, k);
            continue;
        }
        words[128 + i] += 1;
    }
    words[i] += 1000;
}
