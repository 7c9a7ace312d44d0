// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are loaded before they are launched.
//
// CUDA loads a kernel when it is first launched, and a kernel with checks, and
// what the library has to do for it, take longer. So the kernels that this
// executable or shared library registers are loaded when the program first
// allocates memory of CUDA's on a device: what a program measures of a first
// launch is closer to what it measures without checks. The list of these
// kernels also has their names, for launches that fail.
#ifndef CRSAN_HOST_EARLYLOAD_H
#define CRSAN_HOST_EARLYLOAD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Functions of the CUDA run-time library, without its headers. Null where the
/// library does not have them.
struct CudaFunctions {
  int (*GetAttributes)(void *Attributes, const void *Kernel);
  int (*GetDevice)(int *Device);
  int (*GetLastError)(void);
  int (*PeekAtLastError)(void);
  int (*ExchangeCaptureMode)(int *Mode);
};

// Every executable and shared library has its own.
#pragma GCC visibility push(hidden)
/// The program has registered a kernel. `Kernel`: the address of its stub;
/// `Name`: mangled, kept by the program.
void crsanKernelRegistered(const void *Kernel, const char *Name);
/// The name that a kernel was registered by, or null.
const char *crsanNameOfKernel(const void *Kernel);
/// The program has registered a variable of that size. If all variables
/// together are larger than 16 MiB, no kernel is loaded early: a module takes
/// the memory of its variables, even if the program never uses it.
void crsanVariableRegistered(size_t Bytes);
/// The program has allocated memory. Loads the kernels that the current device
/// has not loaded yet, if crsanMayLoadKernels() and CUDA_MODULE_LOADING is not
/// set. After 20 ms it loads no further kernel.
void crsanMemoryAllocated(const struct CudaFunctions *Cuda);

// Called by EarlyLoad.c, defined by what it is linked with.
/// Whether CRSan's library is there, and no kernel has been launched: to load
/// code, CUDA may wait for kernels that run.
int crsanMayLoadKernels(void);
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif // CRSAN_HOST_EARLYLOAD_H
