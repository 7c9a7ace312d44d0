// Intent: a search reads no element behind the one that ends it, and is accused of none.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// DEFINE: %{run} = %crsan run --device=sim --seeds 1-3 %t
// RUN: %{run} behind 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: not %{run} before 2>&1 | FileCheck %s --check-prefix=RACY
// CLEAN: SUMMARY: CRSan: no data races found
// RACY: early-exit-loop.cu:[[#@LINE+8]]
// RACY: SUMMARY: CRSan: 1 data race
#include <cstring>

static __device__ __noinline__ int find(const unsigned char (&In)[1024],
                                        unsigned char Wanted) {
  int Place = 1024;
  for (int I = 0; I < 1024; ++I)
    if (In[I] == Wanted) {
      Place = I;
      break;
    }
  return Place;
}

__device__ unsigned char Data[1024];
__global__ void mark() { Data[1] = 7; }
__global__ void search(int *Out, int Place, int Value) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0)
    Out[0] = find(Data, 7);
  else if (blockIdx.x == 1)
    Data[Place] = Value;
}

int main(int, char **Args) {
  const int Place = !strcmp(Args[1], "behind") ? 2 : 0;
  int *Out;
  cudaMalloc(&Out, 4);
  mark<<<1, 1>>>();
  for (int I = 0; I < 20; ++I)
    search<<<8, 32>>>(Out, Place, I + 10);
  return cudaDeviceSynchronize();
}
