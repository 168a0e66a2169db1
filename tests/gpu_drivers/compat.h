/* Mesa 25's thread functions collide with those that newer C libraries declare in stdlib.h. */
#include <stdlib.h>
#undef ONCE_FLAG_INIT
#define once_flag mesa_once_flag
#define call_once mesa_call_once
