// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of CUDA that allocates memory, wrapped as Launch.c has it.
//
// Compiled once for each function, CRSAN_ALLOCATE. CRSAN_LAST: the type of its
// third parameter, if it has one.

#include "EarlyLoad.h"

#include <stddef.h>

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)
#define REAL JOIN(__real_, CRSAN_ALLOCATE)
#define WRAP JOIN(__wrap_, CRSAN_ALLOCATE)

#ifdef CRSAN_LAST
#define PARAMETERS void **Memory, size_t Bytes, CRSAN_LAST Last
#define ARGUMENTS Memory, Bytes, Last
#else
#define PARAMETERS void **Memory, size_t Bytes
#define ARGUMENTS Memory, Bytes
#endif

/// Weak, since a program may have a CUDA run-time library without them.
__attribute__((weak)) int cudaFuncGetAttributes(void *, const void *);
__attribute__((weak)) int cudaGetDevice(int *);
__attribute__((weak)) int cudaGetLastError(void);
__attribute__((weak)) int cudaPeekAtLastError(void);
__attribute__((weak)) int cudaThreadExchangeStreamCaptureMode(int *);

int REAL(PARAMETERS);
int WRAP(PARAMETERS) {
  static const struct CudaFunctions Cuda = {
      cudaFuncGetAttributes, cudaGetDevice, cudaGetLastError,
      cudaPeekAtLastError, cudaThreadExchangeStreamCaptureMode};
  const int Error = REAL(ARGUMENTS);
  if (Error == 0)
    crsanMemoryAllocated(&Cuda);
  return Error;
}
