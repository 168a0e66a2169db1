#version 460

// One instance for each character: a rectangle of two triangles.

layout(location = 0) in vec2 corner; // upper left, in pixels
layout(location = 1) in uint glyph;
layout(location = 2) in vec4 color;

layout(push_constant) uniform Constants {
    layout(offset = 92) float scale; // pixels of a font pixel
    layout(offset = 96) vec2 viewport; // in pixels
    layout(offset = 104) vec2 glyph_size; // in font pixels
};

layout(location = 0) out vec2 font_pixel;
layout(location = 1) out flat uint out_glyph;
layout(location = 2) out vec4 out_color;

void main() {
    vec2 side = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    font_pixel = side * glyph_size;
    out_glyph = glyph;
    out_color = color;
    gl_Position = vec4((corner + font_pixel * scale) / viewport * 2.0 - 1.0, 0.0, 1.0);
}
