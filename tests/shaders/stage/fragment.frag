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

// Green and red by position; the pixel that is asked for aborts and must keep what it had.
void main() {
    color = shade(uvec2(gl_FragCoord.xy));
}
