#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_abort : require

layout(constant_id = 0) const uint LIMIT = 64;

layout(location = 0) rayPayloadInEXT uint payload;

void main() {
    if (gl_LaunchIDEXT == uvec3(1, 0, 0) && LIMIT < 64) {
        abortEXT("launch %v3u", gl_LaunchIDEXT);
    }
    payload = LIMIT;
}
