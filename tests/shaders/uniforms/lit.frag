#version 460

layout(set = 0, binding = 2) uniform Light { vec4 direction; vec4 tint; vec4 rest; float strength; };
layout(set = 0, binding = 3) uniform Material { mat4 before; mat4 after; vec4 color; };
layout(location = 0) out vec4 lit;

// Operations of uniforms alone, in several buffers.
void main() { lit = vec4(color.xyz * direction.xyz / tint.xyz, direction.w * strength); }
