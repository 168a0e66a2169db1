#version 460
#ifdef ABORTS
#extension GL_EXT_abort : require
#endif

// Lights the cube. Aborts at the pixel that was clicked.

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;

layout(set = 0, binding = 1) uniform sampler2D pattern;
layout(push_constant) uniform Constants {
    layout(offset = 80) ivec2 abort_pixel;
};

layout(location = 0) out vec4 color;

const vec3 TO_LIGHT = normalize(vec3(-0.3, 0.6, 1.0));
const vec3 EYE = vec3(0.0, 0.0, 5.0);

void main() {
#ifdef ABORTS
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    if (pixel == abort_pixel) {
        abortEXT("pixel (%v2d): position (%.2v3f), normal (%.2v3f), texcoord (%.2v2f)",
                 pixel, position, normal, texcoord);
    }
#endif
    vec3 n = normalize(normal);
    float diffuse = max(dot(n, TO_LIGHT), 0.0);
    vec3 halfway = normalize(TO_LIGHT + normalize(EYE - position));
    float specular = 0.3 * pow(max(dot(n, halfway), 0.0), 40.0);
    color = vec4(texture(pattern, texcoord).rgb * (0.2 + 0.8 * diffuse) + specular, 1.0);
}
