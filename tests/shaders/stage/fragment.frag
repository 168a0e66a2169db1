#version 460
#extension GL_EXT_abort : require

layout(location = 0) out vec4 color;

layout(push_constant) uniform Push {
    uvec2 pixel;
};

vec4 shade(uvec2 at) {
    if (at == pixel) {
        abortEXT("pixel %u %u", at.x, at.y);
    }
    return vec4(vec2(at) / 255.0, 1.0, 1.0);
}

// Red and green by position; the selected pixel aborts and must keep its value.
void main() {
    color = shade(uvec2(gl_FragCoord.xy));
}
