// Intent: 60 % of the device's memory leave no room for exact shadow of all of it:
// a cache takes over for some.
// GPU-ONLY
// EXPECT: CRSan: metadata mode: no room for exact shadow of everything: \d+ MiB of the program's memory are tracked exactly, \d+ MiB by a cache
#include "Inputs/most-of-memory.h"
