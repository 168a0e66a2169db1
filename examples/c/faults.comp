#version 460

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// Each of the invocations 1 to 13 has a fault, 14 and 15 have one together, and so have the others of their workgroup. Compiled with
// -DFIXED, none has one.

#ifdef FIXED
#define FAULT(wrong, right) (right)
#else
#define FAULT(wrong, right) (wrong)
#endif

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Data {
    uint words[];
};

layout(std430, set = 0, binding = 0) buffer Speeds {
    float speeds[];
};

layout(buffer_reference, std430) buffer Node {
    uint values[];
};

shared uint tile[32];

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = words[i]; // Equal to i in these invocations.
    uint lut[4] = uint[](2, 3, 5, 7);
    uint total = 100, result = 0;
    switch (i) {
    case 1:
        for (uint left = 9; FAULT(left != 0, left > 1); left -= 2)
            result++;
        break;
    case 2:
        uint count = FAULT(n - 2, n);
        result = total / count;
        break;
    case 3:
        uvec2 rest = uvec2(total) % uvec2(n, FAULT(n - 3, n));
        result = rest.x + rest.y;
        break;
    case 4:
        int least = int(n << 29), step = int(n) - FAULT(5, 3);
        result = uint(least / step);
        break;
    case 5:
        result = total << FAULT(7 * n, n);
        break;
    case 6:
        result = lut[FAULT(n, n & 3)];
        break;
    case 7:
        tile[FAULT(8 * n, n)] = total;
        break;
    case 8:
        words[FAULT(n + 56, n)] = total;
        break;
    case 9:
        result = uint(FAULT(-float(n), float(n)));
        break;
    case 10:
        speeds[i] = 1.0 / float(n - FAULT(10, 9));
        break;
    case 11:
        Node list = Node(uvec2(0)); // The end of a list.
        if (FAULT(n != 0, n == 0))
            result = list.values[n + 5];
        break;
    case 12:
        uint sum;
        if (n == FAULT(0, 12))
            sum = total;
        result = sum;
        break;
    case 13:
        speeds[i] = 2.0 * sqrt(FAULT(-float(n), float(n)));
        break;
    case 14:
        tile[FAULT(20, n)] = total;
        break;
    case 15:
        tile[FAULT(20, n)] = n;
        break;
    }
    if (FAULT(i != 16, i != n + 1000))
        barrier();
    words[i] = result;
}
