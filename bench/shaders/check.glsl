// Included first in every shader. CHECK(condition, format, value) ends the invocation where the condition is false;
// CHECK_MODE selects how: 0 does not check, 1 returns, 2 aborts, 3 prints with debugPrintf and returns, 4 counts in the shader's
// `failures` and returns.
#if CHECK_MODE == 2
#extension GL_EXT_abort : require
#elif CHECK_MODE == 3
#extension GL_EXT_debug_printf : require
#endif

#ifdef FRAGMENT
#define END discard
#else
#define END return
#endif

#if CHECK_MODE == 0
#define CHECK(condition, format, value)
#elif CHECK_MODE == 1
#define CHECK(condition, format, value) if (!(condition)) END
#elif CHECK_MODE == 2
#define CHECK(condition, format, value) if (!(condition)) abortEXT(format, value)
#elif CHECK_MODE == 4
#define CHECK(condition, format, value) if (!(condition)) { atomicAdd(failures, 1u); END; }
#else
#define CHECK(condition, format, value) if (!(condition)) { debugPrintfEXT(format, value); END; }
#endif
