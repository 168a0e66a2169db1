#version 460
#extension GL_EXT_abort : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

layout(local_size_x_id = 3) in;

layout(constant_id = 0) const uint M = 16;
layout(constant_id = 1) const uint N = 16;
layout(constant_id = 2) const uint K = 16;

layout(std430, set = 0, binding = 0) readonly buffer Halves {
    float16_t halves[];
};
layout(std430, set = 0, binding = 1) buffer Floats {
    float steps[64];
    float sums[];
};

coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> multiply(
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sum, uint step) {
    coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a;
    coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;
    coopMatLoad(a, halves, 0, K, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(b, halves, 0, N, gl_CooperativeMatrixLayoutRowMajor);
    if (steps[step] == 7.0) {
        abortEXT("step %u", step);
    }
    return coopMatMulAdd(a, b, sum);
}

bool again(uint step) {
    if (steps[step] == 8.0) {
        abortEXT("continue %u", step);
    }
    return step < 4;
}

// Four products of the same matrices. A step of 7 aborts in the loop's body, one of 8 in its condition.
void main() {
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sum =
        coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(0.0);
    uint step = 0;
    do {
        sum = multiply(sum, step);
        step++;
    } while (again(step));
    coopMatStore(sum, sums, 0, N, gl_CooperativeMatrixLayoutRowMajor);
}
