// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums integers in passes, each of which leaves a sum for each block: once by a
// tree in shared memory, whose last levels only the first warp climbs, once by
// shuffles. The planted variant trusts the warp to climb in step and has no
// barriers of the warp.
//
// UNSEEN: collider: on a GPU the lanes of the warp go in step

#include "Suite.h"
#include <utility>

constexpr int Threads = 512;

__device__ unsigned valueOf(int I, int N, const unsigned *In) {
  return I < N ? In[I] : 0;
}

__global__ void sumByTree(int N, const unsigned *In, unsigned *Out) {
  __shared__ unsigned Sums[Threads];
  const int T = threadIdx.x, I = blockIdx.x * Threads * 2 + T;
  Sums[T] = valueOf(I, N, In) + valueOf(I + Threads, N, In);
  __syncthreads();
  for (int Half = Threads / 2; Half >= 32; Half /= 2) {
    if (T < Half)
      Sums[T] += Sums[T + Half];
    __syncthreads();
  }
  if (T >= 32)
    return;
  for (int Half = 16; Half > 0; Half /= 2) {
    if (T < Half)
      Sums[T] += Sums[T + Half]; // RACE
    VARIANT(__syncwarp(), (void)0);
  }
  if (T == 0)
    Out[blockIdx.x] = Sums[0];
}

__device__ unsigned sumOfWarp(unsigned Sum) {
  for (int Lanes = 16; Lanes > 0; Lanes /= 2)
    Sum += __shfl_down_sync(~0u, Sum, Lanes);
  return Sum;
}

__global__ void sumByShuffles(int N, const unsigned *In, unsigned *Out) {
  constexpr int Warps = Threads / 32;
  __shared__ unsigned Sums[Warps];
  const int T = threadIdx.x, I = blockIdx.x * Threads * 2 + T;
  unsigned Sum = valueOf(I, N, In) + valueOf(I + Threads, N, In);
  Sum = sumOfWarp(Sum);
  if (T % 32 == 0)
    Sums[T / 32] = Sum;
  __syncthreads();
  if (T >= 32)
    return;
  Sum = sumOfWarp(T < Warps ? Sums[T] : 0);
  if (T == 0)
    Out[blockIdx.x] = Sum;
}

using Pass = void (*)(int, const unsigned *, unsigned *);

/// Where the sum of all is, once the passes have gone back and forth between
/// two arrays.
static const unsigned *sum(Pass Kernel, int N, const unsigned *In,
                           unsigned *Out, unsigned *Next) {
  while (N > 1) {
    const int Blocks = (N + Threads * 2 - 1) / (Threads * 2);
    Kernel<<<Blocks, Threads>>>(N, In, Out);
    N = Blocks;
    In = Out;
    std::swap(Out, Next);
  }
  return In;
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 3000 : 15 << 20;
  std::vector<unsigned> Values(N);
  unsigned Want = 0;
  for (unsigned &Value : Values)
    Want += Value = draw();
  DeviceArray<unsigned> In(Values), Out(N / Threads), Next(N / Threads);
  bool Right = true;
  for (int Round = 0; Round < (Small ? 1 : 40); ++Round)
    for (Pass Kernel : {sumByTree, sumByShuffles}) {
      unsigned Got;
      CHECK(cudaMemcpy(&Got, sum(Kernel, N, In, Out, Next), sizeof(Got),
                       cudaMemcpyDeviceToHost));
      Right = Right && Got == Want;
    }
  return finish(Right);
}
