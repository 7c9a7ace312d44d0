// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that are loaded before they are launched.

#include "EarlyLoad.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MostKernels = 256, MostDevices = 32 };
static const void *Kernels[MostKernels];
static const char *Names[MostKernels];
static unsigned NumKernels;
/// By device: how many of the kernels have been loaded, or passed over for
/// good.
static unsigned NumLoaded[MostDevices];
static int IsLoading;
static const size_t MostVariableBytes = 16 << 20;
static size_t VariableBytes;

void crsanKernelRegistered(const void *Kernel, const char *Name) {
  const unsigned Index = __atomic_fetch_add(&NumKernels, 1, __ATOMIC_RELAXED);
  if (Index < MostKernels) {
    Names[Index] = Name;
    __atomic_store_n(&Kernels[Index], Kernel, __ATOMIC_RELEASE);
  } else
    __atomic_store_n(&NumKernels, MostKernels, __ATOMIC_RELAXED);
}

const char *crsanNameOfKernel(const void *Kernel) {
  for (unsigned I = 0; I < MostKernels; ++I)
    if (__atomic_load_n(&Kernels[I], __ATOMIC_ACQUIRE) == Kernel)
      return Names[I];
  return NULL;
}

void crsanVariableRegistered(size_t Bytes) {
  __atomic_fetch_add(&VariableBytes, Bytes, __ATOMIC_RELAXED);
}

static int64_t nanoseconds(void) {
  struct timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  return Now.tv_sec * INT64_C(1000000000) + Now.tv_nsec;
}

static void load(const struct CudaFunctions *Cuda, unsigned First,
                 unsigned Count) {
  // As cudaFuncGetAttributes() wants a cudaFuncAttributes, with room to grow.
  uint64_t Attributes[256];
  const int64_t Most = 20 * INT64_C(1000000), Begin = nanoseconds();
  for (unsigned I = First; I < Count && nanoseconds() - Begin < Most; ++I) {
    const void *Kernel = __atomic_load_n(&Kernels[I], __ATOMIC_ACQUIRE);
    // A kernel may have no code for this device. The program shall not see
    // the error.
    if (Kernel && Cuda->GetAttributes(Attributes, Kernel) != 0)
      Cuda->GetLastError();
  }
}

void crsanMemoryAllocated(const struct CudaFunctions *Cuda) {
  int Device;
  unsigned Count = __atomic_load_n(&NumKernels, __ATOMIC_RELAXED);
  if (Count > MostKernels)
    Count = MostKernels;
  if (Count == 0 || !Cuda->GetAttributes || !Cuda->GetDevice ||
      !Cuda->GetLastError || !Cuda->PeekAtLastError ||
      !Cuda->ExchangeCaptureMode || Cuda->GetDevice(&Device) != 0 ||
      Device >= MostDevices)
    return;
  if (__atomic_load_n(&NumLoaded[Device], __ATOMIC_RELAXED) >= Count)
    return;
  // An error that the program has not asked for would be lost.
  if (Cuda->PeekAtLastError() != 0 ||
      __atomic_exchange_n(&IsLoading, 1, __ATOMIC_ACQUIRE))
    return;
  // Another thread may be capturing a stream, which does not concern this.
  enum { Relaxed = 2 };
  int Mode = Relaxed;
  if (__atomic_load_n(&VariableBytes, __ATOMIC_RELAXED) <= MostVariableBytes &&
      crsanMayLoadKernels() && !getenv("CUDA_MODULE_LOADING") &&
      Cuda->ExchangeCaptureMode(&Mode) == 0) {
    load(Cuda, NumLoaded[Device], Count);
    Cuda->ExchangeCaptureMode(&Mode);
  }
  __atomic_store_n(&NumLoaded[Device], Count, __ATOMIC_RELAXED);
  __atomic_store_n(&IsLoading, 0, __ATOMIC_RELEASE);
}
