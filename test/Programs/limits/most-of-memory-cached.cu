// Intent: the cached layout is enough for 60 % of the device's memory.
// GPU-ONLY
// ALONE
// OPTIONS: shadow=cached
#include "Inputs/most-of-memory.h"
