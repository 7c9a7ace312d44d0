// Intent: reports call memory by its name in the source and the index, or by its allocation, in
// every format and by every detector; and both threads alike.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: %python %S/Inputs/told.py %s \
// RUN:   "memory: Histogram\[[0-7]\] \(__device__\)" \
// RUN:   "memory: Table\[2\]\[[0-9]\] \(__device__\)" \
// RUN:   "memory: Hidden\[1\] \+ 8 bytes \(__device__\)" \
// RUN:   "memory: Part\[[0-9]+\] \(__shared__\)" \
// RUN:   "memory: byte 12 of 256 bytes from cudaMalloc \(allocation 2\)" \
// RUN:   ".* by block \(0,0,0\) thread \([0-9]+,[0-9],0\):" \
// RUN:   "not:.*thread [0-9]+ of .*" -- %crsan run %t
// RUN: %python %S/Inputs/told.py %s --options detector=oracle \
// RUN:   "memory: Histogram\[[0-7]\] \(__device__\)" \
// RUN:   "memory: Table\[2\]\[[0-9]\] \(__device__\)" \
// RUN:   "memory: Hidden\[1\] \+ 8 bytes \(__device__\)" \
// RUN:   "memory: Part\[[0-9]+\] \(__shared__\)" \
// RUN:   "memory: byte 12 of 256 bytes from cudaMalloc" -- %crsan run %t

// RUN: %sim_clangxx -fsanitize=cuda-race -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t.collider
// RUN: %python %S/Inputs/told.py %s --some --seeds 10 \
// RUN:   "memory: Histogram\[[0-7]\] \(__device__\)" \
// RUN:   "memory: Part\[[0-9]+\] \(__shared__\)" \
// RUN:   "memory: byte 12 of 256 bytes from cudaMalloc \(allocation 2\)" -- %crsan run %t.collider

#include <cuda_runtime.h>

struct Point {
  int X, Y, Z, W;
};
__device__ unsigned Histogram[8];
__device__ short Table[3][10];
__device__ Point Hidden[4];

__global__ void touch(int *, int *Heap) {
  __shared__ int Part[64];
  const unsigned T = threadIdx.x + blockDim.x * threadIdx.y;
  Histogram[T % 8] += 3;
  Table[2][T % 10] = short(T);
  Hidden[1].Z = int(T);
  Heap[3] = int(T);
  Part[T] = int(T);
  Heap[8 + T % 32] = Part[63 - T];
}

int main() {
  int *First, *Heap;
  cudaMalloc(&First, 64);
  cudaMalloc(&Heap, 256);
  touch<<<2, dim3(32, 2)>>>(First, Heap);
  const cudaError_t Error = cudaDeviceSynchronize();
  cudaFree(Heap);
  cudaFree(First);
  return Error;
}
