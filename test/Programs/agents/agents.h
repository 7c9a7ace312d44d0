// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that host and device share, of several kinds.
#ifndef CRSAN_TEST_PROGRAMS_AGENTS_H
#define CRSAN_TEST_PROGRAMS_AGENTS_H

#include "../streams/streams.h"

/// Zeroed memory for \p N elements, at an address that is the same for both.
template <typename T> T *shared(size_t N) {
  const size_t Bytes = N * sizeof(T);
  void *Memory = nullptr;
#if defined(PINNED)
  CHECK(cudaMallocHost(&Memory, Bytes));
#elif defined(MAPPED)
  CHECK(cudaHostAlloc(&Memory, Bytes, cudaHostAllocMapped));
#elif defined(REGISTERED)
  constexpr size_t Page = 4096;
  Memory = std::aligned_alloc(Page, (Bytes + Page - 1) / Page * Page);
  CHECK(cudaHostRegister(Memory, Bytes, cudaHostRegisterMapped));
#else
  CHECK(cudaMallocManaged(&Memory, Bytes));
#endif
  std::memset(Memory, 0, Bytes);
  return static_cast<T *>(Memory);
}

/// Why the host must not touch managed memory while a kernel runs; null: it may.
inline const char *lacksConcurrentAccess() {
  int IsConcurrent;
  CHECK(cudaDeviceGetAttribute(&IsConcurrent, cudaDevAttrConcurrentManagedAccess, 0));
  return IsConcurrent ? nullptr : "host and device cannot share managed memory";
}

/// Whether \p Stream has work. The simulated GPU goes on with it meanwhile.
inline bool isRunning(cudaStream_t Stream) {
  const cudaError_t Error = cudaStreamQuery(Stream);
  cudaGetLastError(); // "Not ready" is one.
  if (Error != cudaErrorNotReady)
    CHECK(Error);
  return Error == cudaErrorNotReady;
}

#endif // CRSAN_TEST_PROGRAMS_AGENTS_H
