#version 460

// What shaders ordinarily do close to the limits of operands: no check fails.

layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words {
    uint words[64];
};

shared uint tile[4][9];
shared uint keys[32];

uint hash(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    return x ^ x >> 15;
}

uint rotate(uint x, uint n) {
    return (x << n) | (x >> (32u - n));
}

float ratio(float a, float b) {
    float quotient = a / b;
    return b > 0.0 ? quotient : 0.0;
}

int floor_mod(int a, int b) {
    int rest = a % b;
    return rest < 0 ? rest + b : rest;
}

uint bin(float x) {
    return uint(clamp(int(floor(x * 8.0)), 0, 7));
}

void sort(inout uint a[8]) {
    for (int i = 1; i < 8; i++) {
        uint key = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}

void sort_group(uint l) {
    for (uint k = 2u; k <= 32u; k <<= 1) {
        for (uint j = k >> 1; j > 0u; j >>= 1) {
            uint partner = l ^ j;
            if (partner > l && (keys[l] > keys[partner]) == ((l & k) == 0u)) {
                uint key = keys[l];
                keys[l] = keys[partner];
                keys[partner] = key;
            }
            barrier();
        }
    }
}

uint largest_of_a_tree(uint root) {
    uint stack[6], top = 0u, found = 0u;
    stack[top++] = root;
    while (top > 0u && top < 6u) {
        uint node = stack[--top];
        found = max(found, node);
        if (node > 2u) {
            stack[top++] = node / 2u;
            if ((node & 1u) != 0u) stack[top++] = node - 2u;
        }
        if (top >= 4u) top = 2u;
    }
    return found;
}

uint greatest_divisor(uint a, uint b) {
    while (b != 0u) {
        uint rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint position(uint word) {
    uint low = 0u, high = 64u;
    while (low < high) {
        uint middle = (low + high) / 2u;
        if (words[middle] < word) low = middle + 1u;
        else high = middle;
    }
    return low;
}

void main() {
    uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationID.x, word = words[i];
    tile[l >> 3][l & 7u] = word;
    if (l < 4u) tile[l][8] = 0u;
    keys[l] = hash(word);
    barrier();
    sort_group(l);

    uint sum = keys[l];
    for (uint y = 0u; y < 4u; ++y) {
        for (uint x = 0u; x < 9u; ++x) sum += tile[y][x];
    }
    int x = int(l & 7u) - 1, y = int(l >> 3);
    if (x >= 0 && y < 4) sum += tile[y][x];
    ivec2 clamped = clamp(ivec2(x, y) + ivec2(1, -1), ivec2(0), ivec2(8, 3));
    sum += tile[clamped.y][clamped.x];

    uint list[8], histogram[8];
    for (int k = 0; k < 8; k++) {
        list[k] = hash(i * 8u + uint(k));
        histogram[k] = 0u;
    }
    sort(list);
    histogram[bin(float(l) / 32.0)]++;
    histogram[bin(fract(float(word) * 0.01))]++;
    sum += list[l % 8u] + histogram[l & 7u];

    sum += rotate(sum, 1u + (l & 15u)) + rotate(sum, 7u) + (word >> 8u * (l & 3u));
    sum ^= l == 31u ? 0xffffffffu : (1u << (l + 1u)) - 1u;
    sum ^= (1u << l) - 1u;
    sum += i << (31u - uint(findMSB(i | 1u)));
    for (uint bits = word; bits != 0u; bits &= bits - 1u) sum += 1u << findLSB(bits);

    sum += uint(floor_mod(int(i) - 40, 7)) + (word & 0xffffu) / max(word, 1u);
    float size = float(word);
    vec3 inverse = size == 0.0 ? vec3(0.0) : vec3(1.0) / size;
    sum += uint(inverse.x) + uint(min(ratio(float(i), size), 100.0));

    int parent = int(i), hops = 0, path[6];
    while (parent > 0 && hops < 6) {
        path[hops++] = parent;
        parent = (parent - 1) / 2;
    }
    for (int k = hops - 1; k >= 0; --k) sum += uint(path[k]);

    vec4 components = vec4(l, 1, 2, 3);
    for (int k = 0; k < 4; k++) sum += uint(components[k]);
    uint step = 0u;
    do {
        step += 3u;
        if ((step & 8u) != 0u) continue;
        sum += step;
    } while (step < 64u);

    sum += largest_of_a_tree(i) + greatest_divisor(i, 18u) + position(i);
    words[i] = word + 1000u + min(sum, 0u);
}
