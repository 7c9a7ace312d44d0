#pragma once

#ifdef RACY
#define BARRIER (void)0
#else
#define BARRIER __syncthreads()
#endif

cudaError_t runShift();
