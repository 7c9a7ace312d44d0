// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch function of CUDA, wrapped.
//
// Compiled once for each function, CRSAN_LAUNCH, into an archive: the linker,
// told --wrap=CRSAN_LAUNCH, takes what a program refers to, so that a program
// without CUDA links as before. Costs a launch one test unless a debugger runs
// the program.

#include "Launch.h"

#include <stddef.h>

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)
#define REAL JOIN(__real_, CRSAN_LAUNCH)
#define WRAP JOIN(__wrap_, CRSAN_LAUNCH)

/// Weak, since a program may have a CUDA run-time library without it.
__attribute__((weak)) FunctionOfKernel cudaGetFuncBySymbol;

static void tell(const void *Kernel) {
  if (__atomic_load_n(&crsanTellsLaunches, __ATOMIC_RELAXED))
    crsanTellLaunch(Kernel, cudaGetFuncBySymbol);
}

// As CUDA declares them: cudaError_t is an int, a cudaStream_t a pointer, and a
// configuration is passed by one.
#ifdef CRSAN_HAS_CONFIG
int REAL(const void *Config, const void *Kernel, void **Args);
int WRAP(const void *Config, const void *Kernel, void **Args) {
  tell(Kernel);
  return REAL(Config, Kernel, Args);
}
#else
struct dim3 {
  unsigned X, Y, Z;
};
int REAL(const void *Kernel, struct dim3 Grid, struct dim3 Block, void **Args,
         size_t SharedBytes, void *Stream);
int WRAP(const void *Kernel, struct dim3 Grid, struct dim3 Block, void **Args,
         size_t SharedBytes, void *Stream) {
  tell(Kernel);
  return REAL(Kernel, Grid, Block, Args, SharedBytes, Stream);
}
#endif
