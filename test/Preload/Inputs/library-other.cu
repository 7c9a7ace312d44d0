#include "common.h"
static __global__ void use(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  Out[threadIdx.x] = exchangeIn(Tile, 7);
}
extern "C" void computeInLibrary(unsigned *Host) {
  unsigned *Out;
  CHECK(cudaMalloc(&Out, 4 * Threads));
  use<<<1, Threads>>>(Out);
  CHECK(cudaMemcpy(Host, Out, 4 * Threads, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Out));
}
