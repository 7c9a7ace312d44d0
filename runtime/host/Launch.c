// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch function of CUDA, wrapped.
//
// Compiled once for each function, CRSAN_LAUNCH, into an archive: the linker,
// told --wrap=CRSAN_LAUNCH, takes what a program refers to, so that a program
// without CUDA links as before. Costs a launch one or two tests unless a
// debugger runs the program.

#include "Launch.h"
#include "EarlyLoad.h"

#include <stddef.h>

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)
#define REAL JOIN(__real_, CRSAN_LAUNCH)
#define WRAP JOIN(__wrap_, CRSAN_LAUNCH)

#ifdef CRSAN_TAKES_HANDLE
/// A cudaKernel_t is no stub's address. Under a debugger, the library is not
/// told of such launches.
static void tell(const void *Kernel) { (void)Kernel; }
#else
/// Weak, since a program may have a CUDA run-time library without it.
__attribute__((weak)) FunctionOfKernel cudaGetFuncBySymbol;

static void tell(const void *Kernel) {
  if (__atomic_load_n(&crsanTellsLaunches, __ATOMIC_RELAXED))
    crsanTellLaunch(Kernel, cudaGetFuncBySymbol);
}
#endif

/// The run-time library refuses some launches before the driver hears of them,
/// such as those of a kernel without code for the device.
static int checked(const void *Kernel, int Error) {
  if (Error)
    crsanTellRefusal(crsanNameOfKernel(Kernel), Error);
  return Error;
}

// As CUDA declares them: cudaError_t is an int, a cudaStream_t a pointer, and a
// configuration is passed by one.
#ifdef CRSAN_HAS_CONFIG
int REAL(const void *Config, const void *Kernel, void **Args);
int WRAP(const void *Config, const void *Kernel, void **Args) {
  tell(Kernel);
  return checked(Kernel, REAL(Config, Kernel, Args));
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
  return checked(Kernel, REAL(Kernel, Grid, Block, Args, SharedBytes, Stream));
}
#endif
