// Intent: once kernels of several streams may overlap, twice as many launches are checked, 8 at a time.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=16:launch_first=0:verbosity=1 %crsan run --device=sim %t one 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env CRSAN_OPTIONS=seed=1:launch_one_in=16:launch_first=0:verbosity=1 %crsan run --device=sim %t two 2>&1 | FileCheck %s --check-prefix=TWO
// ONE: CRSan: checked {{2[4-7]}} kernel launches
// ONE: left out to save time: 37{{[3-6]}} of 400 kernel launches
// TWO: CRSan: checked {{4[0-9]|5[0-6]}} kernel launches
// TWO: left out to save time: 3{{[45][0-9]|60}} of 400 kernel launches
#include <cstring>

__global__ void work(int *Cells) { ++Cells[threadIdx.x]; }

int main(int, char **Args) {
  int *Cells;
  cudaMalloc(&Cells, 2 * 32 * sizeof(int));
  cudaStream_t Streams[2] = {};
  if (!strcmp(Args[1], "two"))
    for (cudaStream_t &Stream : Streams)
      cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking);
  for (int Launch = 0; Launch < 400; ++Launch)
    work<<<1, 32, 0, Streams[Launch % 2]>>>(Cells + Launch % 2 * 32);
  cudaDeviceSynchronize();
}
