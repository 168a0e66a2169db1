#version 460
#extension GL_EXT_abort : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) buffer Words {
    uint words[];
};

// 8-bit and 16-bit values, which lead to gaps and odd offsets.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (words[i] == 7) {
        abortEXT("%d %u %d %u %f %u", int8_t(-int(i)), uint8_t(250u + i), int16_t(-300 - int(i)), uint16_t(65000u + i),
                 float16_t(i) * 0.5hf, i);
    }
    words[i] += 1000;
}
