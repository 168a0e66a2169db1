#version 460
#extension GL_EXT_abort : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

struct Entry {
    uint key;
    float weight;
};

// Ten variables, and a message that is too long for registers, so that there is room for all of them.
uint look_up(uint index) {
    uint word = words[index];
    int negative = -int(word);
    float fraction = float(word) / 4.0;
    bool flag = index < 40;
    vec2 direction = vec2(fraction, 1.0);
    mat2 matrix = mat2(fraction, 2.0, 3.0, 4.0);
    Entry entry = Entry(word + 1, 0.25);
    uint list[4] = uint[](word, index, 3, 4);
    uint total = 0;
    for (int step = 0; step < 4; step++) {
        total += list[step];
        if (total > 12 && word == 7) {
            uint all[20];
            for (uint k = 0; k < 20; k++) {
                all[k] = word;
            }
            abortEXT("%u", all);
        }
    }
    words[63] = uint(negative + int(direction.x + matrix[0][1] + entry.weight)) + uint(flag);
    return total + entry.key;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    words[i] = look_up(i);
}
