// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that wait for each other.
//
// Programs that include this fill the GPU with one grid and hang if not all of its
// blocks run at a time. They print what their kernel takes, for test/Programs/launches/compare.
#ifndef CRSAN_TEST_PROGRAMS_PERSISTENT_H
#define CRSAN_TEST_PROGRAMS_PERSISTENT_H

#include "../check.h"
#include <algorithm>

CONSTANT Scaled<512, 64> Threads;

/// Where \p Flag gets to \p Least some time: a volatile word that another block
/// writes. What that block wrote before is visible then.
__device__ inline void waitFor(const volatile unsigned *Flag, unsigned Least) {
  while (*Flag < Least)
    ;
  __threadfence();
}

/// Tells other blocks, after all that this one has written.
__device__ inline void tell(volatile unsigned *Flag, unsigned Value) {
  __threadfence();
  *Flag = Value;
}

inline unsigned attribute(cudaDeviceAttr Which) {
  int Value;
  CHECK(cudaDeviceGetAttribute(&Value, Which, 0));
  return Value;
}

/// As many blocks as the GPU has room for by its number of threads.
inline unsigned blocksByHand() {
  if (unsigned(Scaled<0, 1>()))
    return 8;
  return attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / Threads *
         attribute(cudaDevAttrMultiProcessorCount);
}

/// As many as the run-time library says.
template <typename K> unsigned blocksByLibrary(K Kernel) {
  int Each;
  CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Each, Kernel, Threads, 0));
  const unsigned Blocks = Each * attribute(cudaDevAttrMultiProcessorCount);
  return unsigned(Scaled<0, 1>()) ? std::min(Blocks, 8u) : Blocks;
}

/// Runs \p Launch some times and prints how long the shortest took.
template <typename F> void measure(const char *Name, F Launch) {
  cudaEvent_t Begin, End;
  CHECK(cudaEventCreate(&Begin));
  CHECK(cudaEventCreate(&End));
  float Best = 1e9f;
  for (unsigned Turn = 0; Turn < Scaled<3, 1>(); ++Turn) {
    CHECK(cudaEventRecord(Begin));
    Launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(End));
    CHECK(cudaEventSynchronize(End));
    float Milliseconds;
    CHECK(cudaEventElapsedTime(&Milliseconds, Begin, End));
    Best = std::min(Best, Milliseconds);
  }
  std::printf("milliseconds %s %.4f\n", Name, Best);
  CHECK(cudaEventDestroy(Begin));
  CHECK(cudaEventDestroy(End));
}

#endif // CRSAN_TEST_PROGRAMS_PERSISTENT_H
