// Shades with a texture and a table of materials: one check in a fragment shader.
layout(location = 0) in vec2 coordinates;
layout(location = 1) flat in uint material;
layout(location = 2) in vec3 normal;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D albedo;
struct Material { vec4 tint; vec4 emission; };
layout(set = 0, binding = 1) readonly buffer Materials { Material materials[]; };
layout(push_constant) uniform Push { vec3 light; uint length; };

void main() {
    CHECK(material < length, "material %u is beyond the table", material);
    const vec4 base = texture(albedo, coordinates) * materials[material].tint;
    color = base * max(dot(normalize(normal), light), 0) + materials[material].emission;
}
