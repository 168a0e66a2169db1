#version 460

// The test defines one of the forms below. The loop of an invocation whose word is 7 does not end; all others add 1000.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

shared uint ready[32];

uint halve(uint value) {
    // 7 and its half are odd: the loop of this value has no even number to end at.
    while ((value & 1u) == 1u && value <= 7u) {
        value = value == 7u ? 3u : value == 3u ? 1u : 7u;
    }
    return value;
}

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint word = words[id];
    uint rounds = 0u;
#if defined(WHILE)
    while (words[id] == 7u) {
        rounds++;
    }
#elif defined(FOR_EVER)
    for (;;) {
        if (word != 7u) {
            break;
        }
        rounds += word;
    }
#elif defined(DO_WHILE)
    do {
        rounds++;
    } while (word == 7u);
#elif defined(CONTINUE)
    for (uint i = 0u; i < 3u; i++) {
        if (word == 7u) {
            i = 0u;
            rounds++;
            continue;
        }
        rounds += 2u;
    }
#elif defined(NESTED)
    for (uint i = 0u; i != 10u; i += word == 7u ? 0u : 1u) {
        for (uint j = 0u; j < word % 5u; j++) {
            rounds += i ^ j;
        }
    }
#elif defined(SWITCH)
    for (uint state = 0u; state != 3u;) {
        switch (state) {
        case 0u:
            state = word == 7u ? 1u : 3u;
            break;
        case 1u:
            rounds++;
            state = 0u;
            continue;
        default:
            state = 3u;
        }
    }
#elif defined(CALLEE)
    rounds = halve(word);
#elif defined(BARRIER)
    // An invocation that does not end stores nothing behind its loop.
    ready[gl_LocalInvocationIndex] = 0u;
    for (uint i = 0u; i != 5u; i += word == 7u ? 0u : 1u) {
        rounds++;
    }
    ready[gl_LocalInvocationIndex] = rounds;
    barrier();
    rounds = ready[gl_LocalInvocationIndex ^ 1u];
#elif defined(MEMORY)
    // The flag behind the words, which nothing sets.
    if (word == 7u) {
        while (atomicOr(words[64], 0u) == 0u) {
            rounds++;
        }
    }
#elif defined(CONSTANTS)
    // An odd number is never 0.
    if (word == 7u) {
        for (uint left = 9u; left != 0u; left -= 2u) {
            rounds++;
        }
    }
#elif defined(FINITE)
    for (uint i = 0u; i < 100u; i++) {
        for (uint j = 0u; j < 100u + word % 2u; j++) {
            rounds += i * j;
        }
    }
#endif
    words[id] = word + 1000u + (rounds == 0xFFFFFFFFu ? 1u : 0u);
}
