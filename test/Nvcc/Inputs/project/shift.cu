#include "shift.h"

__global__ void shift(int *Out) {
  __shared__ int Tile[64];
  Tile[threadIdx.x] = threadIdx.x;
  BARRIER;
  Out[threadIdx.x] = Tile[(threadIdx.x + 32) % 64];
}

cudaError_t runShift() {
  int *Out;
  cudaMalloc(&Out, 64 * sizeof(int));
  shift<<<1, 64>>>(Out);
  return cudaDeviceSynchronize();
}
