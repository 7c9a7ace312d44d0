// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates pi by random points in a square: each thread draws points from a
// generator of its own, a block sums its threads' hits in shared memory and
// adds them to the total. The planted variant adds without an atomic operation.

#include "Suite.h"

constexpr int Threads = 256;

/// PCG32; a stream of numbers for each \p Thread.
struct Generator {
  uint64_t State, Increment;

  __host__ __device__ explicit Generator(uint64_t Thread)
      : State(Thread * 0x9e3779b97f4a7c15), Increment(2 * Thread + 1) {
    draw();
    draw();
  }
  __host__ __device__ uint32_t draw() {
    const uint64_t Old = State;
    State = Old * 6364136223846793005 + Increment;
    const uint32_t Shifted = ((Old >> 18) ^ Old) >> 27, By = Old >> 59;
    return Shifted >> By | Shifted << (-By & 31);
  }
};

__host__ __device__ unsigned hitsOf(uint64_t Thread, int Points) {
  Generator Numbers(Thread);
  unsigned Hits = 0;
  for (int P = 0; P < Points; ++P) {
    const uint32_t XY = Numbers.draw(), X = XY >> 16, Y = XY & 0xffff;
    Hits += uint64_t(X) * X + uint64_t(Y) * Y < uint64_t(1) << 32;
  }
  return Hits;
}

__global__ void countHits(int Points, unsigned long long *Total) {
  __shared__ unsigned Hits[Threads];
  const int T = threadIdx.x;
  Hits[T] = hitsOf(uint64_t(blockIdx.x) * Threads + T, Points);
  __syncthreads();
  for (int Half = Threads / 2; Half > 0; Half /= 2) {
    if (T < Half)
      Hits[T] += Hits[T + Half];
    __syncthreads();
  }
  if (T == 0)
    VARIANT(atomicAdd(Total, Hits[0]), *Total += Hits[0]); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Blocks = Small ? 4 : 2048, Launches = Small ? 1 : 4;
  DeviceArray<unsigned long long> Totals(1 + Launches);

  // A launch that the host can repeat, and longer ones.
  const int Few = 4, Many = Small ? 256 : 2048;
  countHits<<<Blocks, Threads>>>(Few, Totals);
  for (int Launch = 1; Launch <= Launches; ++Launch)
    countHits<<<Blocks, Threads>>>(Many, Totals + Launch);
  const std::vector<unsigned long long> Got = Totals.download();

  unsigned long long Want = 0;
  for (int Thread = 0; Thread < Blocks * Threads; ++Thread)
    Want += hitsOf(Thread, Few);
  bool Right = Got[0] == Want;
  for (int Launch = 1; Launch <= Launches; ++Launch)
    Right = Right && isNear(4.0 * Got[Launch] / Many / Blocks / Threads, M_PI,
                            Small ? 1e-1 : 1e-3);
  return finish(Right);
}
