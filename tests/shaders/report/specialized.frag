#version 460
#extension GL_EXT_abort : require

layout(constant_id = 0) const uint LIMIT = 64;

layout(push_constant) uniform Push {
    uvec2 at;
};

layout(location = 0) out vec4 color;

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    if (pixel == at && LIMIT < 64) {
        abortEXT("pixel %v2u", pixel);
    }
    color = vec4(1.0);
}
