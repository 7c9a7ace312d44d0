// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs for two GPUs that share managed memory.
#ifndef CRSAN_TEST_PROGRAMS_GPUS_H
#define CRSAN_TEST_PROGRAMS_GPUS_H

#include "../streams/streams.h"

/// Why this machine cannot run a program for two GPUs that access managed memory at
/// the same time; null: it can.
inline const char *lacksTwoGpus() {
  int Devices, IsConcurrent = 1;
  CHECK(cudaGetDeviceCount(&Devices));
  if (Devices < 2)
    return "the program needs two GPUs, and there is one";
  for (int Device = 0; Device < 2 && IsConcurrent; ++Device)
    CHECK(cudaDeviceGetAttribute(&IsConcurrent, cudaDevAttrConcurrentManagedAccess,
                                 Device));
  return IsConcurrent ? nullptr : "managed memory is not for two GPUs at a time";
}

/// Waits for both, which go on side by side on the simulated GPUs, too.
inline void waitForBoth(cudaStream_t One, cudaStream_t Other) {
  bool IsOver;
  do {
    const bool IsFirst = cudaStreamQuery(One) != cudaErrorNotReady;
    IsOver = cudaStreamQuery(Other) != cudaErrorNotReady && IsFirst;
  } while (!IsOver);
  cudaGetLastError(); // "Not ready" is one.
  CHECK(cudaStreamSynchronize(One));
  CHECK(cudaStreamSynchronize(Other));
}

#endif // CRSAN_TEST_PROGRAMS_GPUS_H
