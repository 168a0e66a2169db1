#version 460

layout(location = 0) out vec4 color;

// Helper invocations, beyond the diagonal, divide by zero before their neighbours take derivatives of what follows: white without
// the check, and with it.
void main() {
    uint at = uint(gl_FragCoord.x) + uint(gl_FragCoord.y);
    uint quotient = 100u / (gl_HelperInvocation ? 0u : 1u + at % 3u);
    float sum = quotient > 1000u ? 1.0 : 0.0;
    for (uint i = 0u; i < 3u + at % 2u * 0u; i++) {
        sum += gl_FragCoord.x * 2.0;
    }
    float slope = dFdx(sum - (quotient > 1000u ? 1.0 : 0.0));
    color = vec4(abs(slope - 6.0) < 0.01 && quotient > 0u ? 1.0 : 0.5, vec3(1.0));
}
