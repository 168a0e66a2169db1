#version 460

// Draws a character of a bitmap font over a dark panel.

layout(location = 0) in vec2 font_pixel;
layout(location = 1) in flat uint glyph;
layout(location = 2) in vec4 color;

// One word for each row of a glyph, with its leftmost pixel in bit 0.
layout(set = 0, binding = 2) readonly buffer Font {
    uint rows[];
};
layout(push_constant) uniform Constants {
    layout(offset = 104) vec2 glyph_size; // in font pixels
};

layout(location = 0) out vec4 out_color;

const vec4 PANEL = vec4(0.0, 0.0, 0.0, 0.85);

void main() {
    uvec2 at = uvec2(font_pixel);
    uint row = rows[glyph * uint(glyph_size.y) + at.y];
    out_color = bitfieldExtract(row, int(at.x), 1) != 0u ? color : PANEL;
}
