// Intent: blocks of a cluster use their own shared memory, whose addresses say
// which block's it is, and each other's.
// ARCH: sm_90
// FIXED: fixed
// RACY: own -DOWN
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 16, Cluster = 4, Rounds = 10;

__device__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release;\n\t"
               "barrier.cluster.wait.acquire;" ::: "memory");
}

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[Threads], Turned[Threads];
  const unsigned T = threadIdx.x, Rank = blockIdx.x % Cluster;
  unsigned *Remote;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(Remote)
      : "l"(Cells), "r"((Rank + 1) % Cluster));
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Turned[T] = R * Cluster + Rank; // RACE: own
#ifndef OWN
    __syncthreads();
#endif
    Cells[T] = Turned[Threads - 1 - T]; // RACE: own
    clusterBarrier();
    Sum += Remote[T];
    clusterBarrier();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {Cluster, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, exchange, Out));
#ifdef OWN
  CHECK(cudaDeviceSynchronize());
  return finish(true);
#else
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned From = (I / Threads + 1) % Cluster;
    return Rounds * (Rounds - 1) / 2 * Cluster + Rounds * From;
  }));
#endif
}
