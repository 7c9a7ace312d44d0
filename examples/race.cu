// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A histogram that counts too few: threads read a bin, add one and write it back,
// and what others wrote in between is lost.
//
//   crsan-clang++ -fsanitize=cuda-race -O2 race.cu -o race && ./race

#include <cstdio>
#include <cuda_runtime.h>

constexpr int Bins = 16;

__global__ void histogram(const unsigned char *Data, int N, int *Counts) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Counts[Data[I] % Bins] += 1; // the race; atomicAdd(&Counts[...], 1) cures it
}

int main() {
  constexpr int N = 1 << 20;
  unsigned char *Data;
  int *Counts;
  if (cudaMallocManaged(&Data, N) != cudaSuccess ||
      cudaMallocManaged(&Counts, Bins * sizeof(int)) != cudaSuccess) {
    fprintf(stderr, "race: no GPU memory: %s\n",
            cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (int I = 0; I < N; ++I)
    Data[I] = static_cast<unsigned char>(I * 2654435761u >> 24);
  for (int B = 0; B < Bins; ++B)
    Counts[B] = 0;

  histogram<<<(N + 255) / 256, 256>>>(Data, N, Counts);
  cudaDeviceSynchronize();

  int Sum = 0;
  for (int B = 0; B < Bins; ++B)
    Sum += Counts[B];
  printf("counted %d of %d\n", Sum, N);
  cudaFree(Data);
  cudaFree(Counts);
  return 0;
}
