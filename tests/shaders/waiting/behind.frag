#version 460
#extension GL_EXT_abort : require

layout(location = 0) out vec4 color;

layout(push_constant) uniform Push {
    uvec2 pixel;
};

layout(std430, set = 0, binding = 0) coherent buffer Words {
    uint lock;
};

void lock_and_abort() {
    atomicExchange(lock, 1u);
    abortEXT("holds the lock");
}

// The selected pixel takes the lock and aborts in a callee; all others wait for it.
void main() {
    if (uvec2(gl_FragCoord.xy) == pixel) {
        lock_and_abort();
    }
    while (atomicOr(lock, 0u) == 1u) {
    }
    color = vec4(1.0);
}
