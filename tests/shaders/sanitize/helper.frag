#version 460

layout(location = 0) out vec4 color;

// Helper invocations divide by zero and are beyond the array; the others are white.
void main() {
    uint lut[4] = uint[](5u, 5u, 5u, 5u);
    uint divisor = gl_HelperInvocation ? 0u : 1u;
    uint at = gl_HelperInvocation ? 70u : uint(gl_FragCoord.x) & 3u;
    float value = float(lut[at] / divisor);
    color = vec4(value == 5.0 ? 1.0 : 0.5, vec3(1.0));
}
