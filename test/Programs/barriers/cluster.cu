// Intent: blocks of a cluster read each other's shared memory, with and without
// the cluster's barrier.
// ARCH: sm_90
// TOO-SLOW: metadata hybrid: a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 16, Rounds = 50;

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release;\n\t"
               "barrier.cluster.wait.acquire;" ::: "memory");
}

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[Threads];
  unsigned T = threadIdx.x, Rank = blockIdx.x % 2, Sum = 0;
  unsigned *Remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(Remote) : "l"(Cells), "r"(Rank ^ 1));
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[T] = R * 2 + Rank; // RACE
#ifndef RACY
    clusterBarrier();
#endif
    Sum += Remote[T]; // RACE
    clusterBarrier();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, exchange, Out));
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Rank = I / Threads % 2;
    return Rounds * (Rounds + 1) + Rounds * (Rank ^ 1);
  }));
}
