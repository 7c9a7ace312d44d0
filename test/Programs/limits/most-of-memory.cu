// Intent: 60 % of the device's memory leave no room for exact shadow of all of it:
// a cache takes over for some.
// GPU-ONLY
// ALONE
// EXPECT: CRSan: metadata mode: no room on device 0 for exact shadow of all memory of the program: at most [1-9]\d* MiB were tracked exactly, [1-9]\d* MiB by a cache, which may miss races, and 0 MiB not at all
#include "Inputs/most-of-memory.h"
