// Assertions for GLSL shaders: on failure an invocation aborts, with the expression, its values and the line.
//
//     #version 460
//     #extension GL_GOOGLE_include_directive : require
//     #include "vkabort_assert.glsl"
//     ..
//     ASSERT(i != j);                  line 12: (i != j)
//     ASSERT_EQ(sum, 64);              line 13: (sum) == (64) -> 63 == 64
//     ASSERT_LT(i, values.length());   line 14: (i) < (values.length()) -> 70 < 64
//     ASSERT_FINITE(x);                line 15: (x) == nan
//
// Compile with `glslang -V -gVS`; needs glslang 16.6. ASSERT_EQ and ASSERT_LT take integers; their arguments are evaluated a
// second time when the assertion fails. ASSERT_FINITE takes a float or a vector, of which it shows the first component that
// is infinite or not a number. With NDEBUG defined (`-DNDEBUG`), assertions cost nothing.
#ifndef VKABORT_ASSERT_GLSL
#define VKABORT_ASSERT_GLSL

#ifdef NDEBUG

#define ASSERT(condition)
#define ASSERT_EQ(a, b)
#define ASSERT_LT(a, b)
#define ASSERT_FINITE(x)

#else

#extension GL_EXT_abort : require

// A string of the tokens after the expansion of macros. glslang drops the space before an identifier.
#define VKABORT_TEXT(tokens) VKABORT_TEXT_OF(tokens)
#define VKABORT_TEXT_OF(tokens) #tokens

// The `else` needs the semicolon of the statement, and belongs to no other `if`.
#define ASSERT(condition) if (condition) {} else abortEXT(VKABORT_TEXT(line %d: (condition)), __LINE__)
#define ASSERT_EQ(a, b) if ((a) == (b)) {} else abortEXT(VKABORT_TEXT(line %d: (a) == (b) -> %d == %d), __LINE__, a, b)
#define ASSERT_LT(a, b) if ((a) < (b)) {} else abortEXT(VKABORT_TEXT(line %d: (a) < (b) -> %d < %d), __LINE__, a, b)
#define ASSERT_FINITE(x) if (vkabort_is_finite(x)) {} else abortEXT(VKABORT_TEXT(line %d: (x) == %f), __LINE__, vkabort_not_finite(x))

bool vkabort_is_finite(float x) { return !isnan(x) && !isinf(x); }
bool vkabort_is_finite(vec2 x) { return vkabort_is_finite(x.x) && vkabort_is_finite(x.y); }
bool vkabort_is_finite(vec3 x) { return vkabort_is_finite(x.xy) && vkabort_is_finite(x.z); }
bool vkabort_is_finite(vec4 x) { return vkabort_is_finite(x.xyz) && vkabort_is_finite(x.w); }

// The first component that is not finite.
float vkabort_not_finite(float x) { return x; }
float vkabort_not_finite(vec2 x) { return vkabort_is_finite(x.x) ? x.y : x.x; }
float vkabort_not_finite(vec3 x) { return vkabort_is_finite(x.xy) ? x.z : vkabort_not_finite(x.xy); }
float vkabort_not_finite(vec4 x) { return vkabort_is_finite(x.xyz) ? x.w : vkabort_not_finite(x.xyz); }

#endif // NDEBUG

#endif // VKABORT_ASSERT_GLSL
