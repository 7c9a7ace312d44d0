// Intent: a kernel calls a function of a unit that was built without CRSan, and
// only there the threads wait for each other.
// CLEAN-ONLY
// EXPECT: CRSan: metadata mode: \d+ accesses on device 0 were not checked
// GPU-ONLY
// BUILD: -fgpu-rdc
// APART: Inputs/blend.cu -fgpu-rdc
#include "Inputs/blending-kernel.h"
