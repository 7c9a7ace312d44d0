// What the programs share: each computes something that the host checks, and races with -DRACY.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(Call) checkCall((Call), #Call, __LINE__)
inline void checkCall(cudaError_t Error, const char *Call, int Line) {
  if (Error == cudaSuccess)
    return;
  std::printf("line %d: %s: %s\n", Line, Call, cudaGetErrorString(Error));
  std::fflush(stdout);
  std::exit(1);
}
inline void expect(long Got, long Want, const char *What) {
#ifndef RACY
  if (Got == Want)
    return;
  std::printf("WRONG: %s is %ld, not %ld\n", What, Got, Want);
  std::fflush(stdout);
  std::exit(1);
#endif
}
inline int finish() {
  CHECK(cudaDeviceSynchronize());
  std::printf("PASS\n");
  std::fflush(stdout);
  return 0;
}

constexpr unsigned Threads = 256, Rounds = 100;

/// Threads of a block exchange values by way of a tile, round by round.
__device__ inline unsigned exchangeIn(unsigned *Tile, unsigned Factor) {
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = R * Factor + threadIdx.x; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % Threads]; // RACE
    __syncthreads();
  }
  return Sum;
}
inline unsigned wanted(unsigned Thread, unsigned Factor) {
  return Factor * (Rounds * (Rounds + 1) / 2) + Rounds * ((Thread + 32) % Threads);
}
