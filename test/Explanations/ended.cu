// Intent: that a thread ends is no release, and is not called one; a barrier that it comes to
// before it ends orders what it wrote.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: %python %S/Inputs/told.py %s \
// RUN:   "Nothing orders the two: the earlier thread has ended, and had executed no fence, barrier or release since line {store}. That a thread ends tells the others nothing. .*" \
// RUN:   "not:.*has released.*" "not:.*has arrived.*" "not:.*has executed a fence.*" -- %crsan run %t
// RUN: %python %S/Inputs/told.py %s --options detector=oracle \
// RUN:   "The threads are in different blocks of a cluster, and .*" -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean -- %crsan run %t.fixed
// RUN: %python %S/Inputs/told.py %s --clean --options detector=oracle -- %crsan run %t.fixed

#include <cuda_runtime.h>

__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

// Of each warp, half of the lanes end early, and of the second warp all of them.
__global__ void message(int *Box, int *Out) {
  const int T = threadIdx.x;
  Box[blockIdx.x * 64 + T] = T; // @store
#ifdef FIXED
  meet();
#endif
  if (T >= 16)
    return;
#ifndef FIXED
  meet();
#endif
  const int *Other = Box + (blockIdx.x ^ 1) * 64;
  Out[blockIdx.x * 64 + T] = Other[31 - T] + Other[63 - T]; // @read
}

int main() {
  int *Box, *Out;
  cudaMalloc(&Box, 256 * 4);
  cudaMalloc(&Out, 256 * 4);
  cudaLaunchAttribute Cluster;
  Cluster.id = cudaLaunchAttributeClusterDimension;
  Cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = 4;
  Config.blockDim = 64;
  Config.attrs = &Cluster;
  Config.numAttrs = 1;
  cudaLaunchKernelEx(&Config, message, Box, Out);
  return cudaDeviceSynchronize();
}
