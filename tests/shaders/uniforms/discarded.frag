#version 460

layout(set = 0, binding = 2) uniform Light { vec4 direction; vec4 tint; vec4 rest; float strength; };
layout(set = 0, binding = 3) uniform Material { mat4 before; mat4 after; vec4 color; };
layout(location = 0) out vec4 lit;

#define LIT(row) log2(before[row].x) / tint.x + sqrt(before[row].y) / tint.y + inversesqrt(before[row].z) / before[row].w

// Discards fragments, in front of more operations that may be undefined than drivers nest conditions. All read uniforms.
void main() {
    if (gl_FragCoord.y > 32.0)
        discard;
    vec4 sum = vec4(LIT(0), LIT(1), LIT(2), LIT(3)) / direction.x;
    lit = color.x / rest.x * sum + color.y / after[0].x + color.z / after[1].x + color.w / after[2].x + direction.y / strength;
}
