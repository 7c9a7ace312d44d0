#include "common.h"
static __device__ unsigned Base[Threads];
static __global__ void fill() { Base[threadIdx.x] = threadIdx.x; }
static __global__ void use(unsigned *Out) { Out[threadIdx.x] += Base[threadIdx.x]; }
unsigned *other(cudaStream_t Stream, unsigned *Out) {
  fill<<<1, Threads, 0, Stream>>>();
  use<<<1, Threads, 0, Stream>>>(Out);
  return Out;
}
