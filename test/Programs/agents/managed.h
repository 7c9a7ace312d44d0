// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Managed memory that host and device access at the same time.
#ifndef CRSAN_TEST_PROGRAMS_MANAGED_H
#define CRSAN_TEST_PROGRAMS_MANAGED_H

#include "../streams/streams.h"

/// Why the host must not touch managed memory while a kernel runs; null: it may.
inline const char *lacksConcurrentAccess() {
  int IsConcurrent;
  CHECK(cudaDeviceGetAttribute(&IsConcurrent, cudaDevAttrConcurrentManagedAccess, 0));
  return IsConcurrent ? nullptr : "host and device cannot share managed memory";
}

/// Managed memory for \p N elements, all bytes zero.
template <typename T> T *managed(size_t N) {
  T *Memory;
  CHECK(cudaMallocManaged(&Memory, N * sizeof(T)));
  memset(Memory, 0, N * sizeof(T));
  return Memory;
}

/// Also lets the simulated GPU go on.
inline bool isRunning(cudaStream_t Stream) {
  const cudaError_t Error = cudaStreamQuery(Stream);
  cudaGetLastError(); // "Not ready" is one.
  if (Error != cudaErrorNotReady)
    CHECK(Error);
  return Error == cudaErrorNotReady;
}

#endif // CRSAN_TEST_PROGRAMS_MANAGED_H
