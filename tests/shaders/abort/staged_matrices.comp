#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

layout(local_size_x_id = 3) in;

layout(constant_id = 0) const uint M = 16;
layout(constant_id = 1) const uint N = 16;
layout(constant_id = 2) const uint K = 16;

layout(std430, set = 0, binding = 0) readonly buffer Halves {
    uvec2 halves[];
};
layout(std430, set = 0, binding = 1) buffer Floats {
    float steps[64];
    float sums[];
};

// Of 8 bytes each, though loads of a matrix need rows that are aligned to 16 bytes.
shared uvec2 left[M * K / 4];
shared uvec2 right[K * N / 4];

// Four products of the same matrices, which go through shared memory.
void main() {
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sum =
        coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(0.0);
    for (uint step = 0; step < 4; ++step) {
        for (uint i = gl_LocalInvocationIndex; i < M * K / 4; i += gl_WorkGroupSize.x) {
            left[i] = halves[i];
        }
        for (uint i = gl_LocalInvocationIndex; i < K * N / 4; i += gl_WorkGroupSize.x) {
            right[i] = halves[i];
        }
        barrier();
        coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a;
        coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;
        coopMatLoad(a, left, 0, K / 4, gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(b, right, 0, N / 4, gl_CooperativeMatrixLayoutRowMajor);
        sum = coopMatMulAdd(a, b, sum);
        barrier();
    }
    coopMatStore(sum, sums, 0, N, gl_CooperativeMatrixLayoutRowMajor);
}
