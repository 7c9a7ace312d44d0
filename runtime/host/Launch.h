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
#pragma GCC visibility pop

#endif // CRSAN_HOST_LAUNCH_H
