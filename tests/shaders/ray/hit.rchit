#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_abort : require

layout(std430, set = 0, binding = 0) buffer Words {
    uint stage;
    uint launch;
    uint words[];
};

layout(location = 0) rayPayloadInEXT uint payload;
hitAttributeEXT vec2 attributes;

// Aborts in the selected stage and launch; all others count themselves.
void note(uint at) {
    if (stage == 4 && launch == at) {
        abortEXT("closest hit %u", at);
    }
    words[4 * 64 + at] += 1;
}

void main() {
    note(gl_LaunchIDEXT.y * 8 + gl_LaunchIDEXT.x);
    payload = 100 + gl_InstanceCustomIndexEXT;
}
