// Intent: a kernel calls a function of a unit that was built without CRSan, and
// only there the threads wait for each other.
// CLEAN-ONLY
// EXPECT: CRSan: metadata mode: [1-9]\d* calls on device 0 were of functions that were compiled without it
// GPU-ONLY
// BUILD: -fgpu-rdc
// APART: Inputs/blend.cu -fgpu-rdc
#include "Inputs/blending-kernel.h"
