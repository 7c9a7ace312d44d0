// Intent: a kernel polls in one loop, and its other loops, which lanes leave at different times, write memory in
// between barriers that are not aligned: checks of these writes must not part the warp.
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"

constexpr unsigned Threads = 64, Cells = 296;
CONSTANT Scaled<132, 2> Blocks;
CONSTANT Scaled<20, 2> Launches;

__device__ __noinline__ void meet() {
#ifndef RACY
  asm volatile("barrier.sync 1;" ::: "memory");
#endif
}

__global__ void sum(unsigned *Parts, unsigned *Out, const unsigned *In) {
  __shared__ unsigned Flag, Given[Threads];
  const unsigned T = threadIdx.x;
  unsigned *Part = Parts + blockIdx.x * Cells;
  if (T == 0)
    Flag = 0;
#pragma unroll 1
  for (unsigned I = T; I < Cells; I += Threads) {
    unsigned Cell = 0;
#pragma unroll 1
    for (unsigned P = I; P < 481; P += 165)
      Cell += In[P];
    Part[I] = Cell; // RACE
  }
#pragma unroll 1
  for (unsigned N = Cells; N > 1; N = (N + 1) / 2) {
    meet();
    const unsigned Half = (N + 1) / 2;
#pragma unroll 1
    for (unsigned I = T; I < N - Half; I += Threads)
      Part[I] += Part[I + Half]; // RACE
  }
  __syncthreads();
  unsigned Sum = Part[0];
  __syncthreads();
  // The second warp waits for the first one.
  if (T < 32) {
    Given[T] = Sum + T;
    __syncwarp();
    if (T == 0)
      __nv_atomic_store_n(&Flag, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  } else {
    while (__nv_atomic_load_n(&Flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0)
      __nanosleep(20);
    Sum += Given[T - 32] - (T - 32);
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In(512);
  for (unsigned I = 0; I < In.size(); ++I)
    In[I] = I * 7 % 31;
  unsigned Want = 0;
  for (unsigned I = 0; I < Cells; ++I)
    for (unsigned P = I; P < 481; P += 165)
      Want += In[P];
  unsigned *Device = upload(In), *Parts = zeroed<unsigned>(Blocks * Cells);
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  bool Right = true;
  for (unsigned L = 0; L < Launches; ++L) {
    sum<<<Blocks, Threads>>>(Parts, Out, Device);
    std::vector<unsigned> Got(Blocks * Threads);
    CHECK(cudaMemcpy(Got.data(), Out, Got.size() * sizeof(unsigned), cudaMemcpyDefault));
    for (unsigned I = 0; I < Got.size(); ++I)
      Right &= Got[I] == (I % Threads < 32 ? Want : 2 * Want);
  }
  return finish(Right);
}
