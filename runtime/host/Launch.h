// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that the library is told of.
#ifndef CRSAN_HOST_LAUNCH_H
#define CRSAN_HOST_LAUNCH_H

/// cudaGetFuncBySymbol, without CUDA's headers.
typedef int FunctionOfKernel(void **Function, const void *Kernel);

// Every executable and shared library has its own.
#pragma GCC visibility push(hidden)
/// Whether crsanTellLaunch wants to be called before a launch.
extern int crsanTellsLaunches;
void crsanTellLaunch(const void *Kernel, FunctionOfKernel *FunctionOf);
/// A launch has failed with an error of CUDA's run-time library. `Kernel`: its
/// mangled name, or null.
void crsanTellRefusal(const char *Kernel, int Error);
#pragma GCC visibility pop

#endif // CRSAN_HOST_LAUNCH_H
