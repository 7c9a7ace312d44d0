// Intent: a kernel calls a function of a unit that was built for the collider, and
// only there the threads wait for each other.
// CLEAN-ONLY
// EXPECT: CRSan: metadata mode: [1-9]\d* calls on device 0 were of functions that were compiled without it
// BUILD: -fgpu-rdc
// APART: Inputs/blend.cu -fgpu-rdc -fsanitize=cuda-race
#include "Inputs/blending-kernel.h"
