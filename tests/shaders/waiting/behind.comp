#version 460
#extension GL_EXT_abort : require

// The test defines one of the forms below.

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) coherent buffer Words {
    uint mode;
    uint lock;
    uint results[];
};

shared uint group_lock;

// Invocation 5 takes the lock. If it aborts, all others wait for it.
#define WAIT while (atomicOr(lock, 0u) == 1u) {}
#define TAKE atomicExchange(lock, 1u)
#define RELEASE atomicExchange(lock, 0u)
#define ABORT abortEXT("holds the lock")

void abort_if(bool aborts) {
    TAKE;
    if (aborts) {
        ABORT;
    }
    RELEASE;
}

uint abort_or_wait(bool aborts, uint value) {
    if (aborts) {
        TAKE;
        ABORT;
        return 0u;
    }
    WAIT
    return value;
}

uint abort_or_one(bool is_taker, bool aborts) {
    if (is_taker) {
        TAKE;
        if (aborts) {
            ABORT;
        }
        RELEASE;
        return 1u;
    }
    return 1u;
}

void main() {
    uint id = gl_GlobalInvocationID.x;
    bool takes = id == 5u;
    bool aborts = takes && mode == 7u;
    uint result = 1u;
#if defined(IF)
    if (aborts) {
        TAKE;
        ABORT;
    }
    WAIT
#elif defined(ELSE)
    if (!aborts) {
        result = 1u;
    } else {
        TAKE;
        ABORT;
    }
    WAIT
#elif defined(NESTED)
    if (id < 8u) {
        if (takes) {
            TAKE;
            if (aborts) {
                ABORT;
            }
            RELEASE;
        }
        result = 1u;
    }
    WAIT
#elif defined(NESTED_WAITS)
    if (id < 8u) {
        if (takes) {
            TAKE;
            if (aborts) {
                ABORT;
            }
            RELEASE;
        }
        WAIT
    }
    WAIT
#elif defined(SWITCH)
    switch (id) {
    case 4u:
        result = 1u;
        break;
    case 5u:
        TAKE;
        if (aborts) {
            ABORT;
        }
        RELEASE;
    case 6u:
        result = 1u;
        break;
    default:
        result = 1u;
    }
    WAIT
#elif defined(LOOP)
    for (uint i = 0u; i < 4u; i++) {
        if (takes && i == 2u) {
            TAKE;
            if (aborts) {
                ABORT;
            }
            RELEASE;
            continue;
        }
        result = 1u;
    }
    WAIT
#elif defined(SWITCH_IN_LOOP)
    for (uint i = 0u; i < 4u; i++) {
        switch (i + id) {
        case 7u:
            if (takes) {
                TAKE;
                if (aborts) {
                    ABORT;
                }
                RELEASE;
            }
            break;
        default:
            result = 1u;
        }
    }
    WAIT
#elif defined(LOOP_CONDITION)
    if (takes) {
        uint i = 0u;
        do {
            i += abort_or_one(true, aborts);
        } while (i + abort_or_one(true, aborts) < 4u);
    }
    WAIT
#elif defined(IN_THE_LOOP)
    if (takes) {
        TAKE;
    }
    uint i = 0u;
    do {
        if (takes && i == 3u) {
            if (aborts) {
                ABORT;
            }
            RELEASE;
        }
        i++;
    } while (atomicOr(lock, 0u) == 1u);
#elif defined(IN_A_CALLEE)
    result = abort_or_wait(aborts, result);
#elif defined(CALL)
    if (takes) {
        abort_if(aborts);
        result = 1u;
    }
    WAIT
#elif defined(CALLED_LOOP)
    if (takes) {
        abort_if(aborts);
    }
    result = abort_or_wait(false, result);
#elif defined(RETURNED)
    result = abort_or_one(takes, aborts);
    WAIT
#elif defined(UNIFORM)
    if (gl_WorkGroupID.x == 0u && mode == 7u) {
        TAKE;
        ABORT;
    }
    WAIT
#elif defined(SHARED)
    if (gl_LocalInvocationIndex == 0u) {
        group_lock = 0u;
    }
    barrier();
    if (takes) {
        atomicExchange(group_lock, 1u);
        if (aborts) {
            ABORT;
        }
        atomicExchange(group_lock, 0u);
    }
    while (atomicOr(group_lock, 0u) == 1u) {}
#endif
    results[id] = result;
}
