#include "histogram.h"

extern __device__ int bin(int Value);

__global__ void histogram(int *Values, int *Counts, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  int Bin = bin(Values[I]);
  Values[I] = Bin;
#ifdef RACY
  Counts[Bin] += 1; // RACE
#else
  atomicAdd(&Counts[Bin], 1);
#endif
}

int countedValues(int N) {
  int *Values, *Counts;
  cudaMallocManaged(&Values, N * sizeof(int));
  cudaMallocManaged(&Counts, Bins * sizeof(int));
  register int Sum = 0; // nvcc and crsan-clang++ warn of the word.
  for (int I = 0; I < N; ++I)
    Values[I] = I;
  for (int I = 0; I < Bins; ++I)
    Counts[I] = 0;
  histogram<<<(N + 127) / 128, 128>>>(Values, Counts, N);
  if (cudaDeviceSynchronize() == cudaSuccess)
    for (int I = 0; I < Bins; ++I)
      Sum += Counts[I];
  cudaFree(Values);
  cudaFree(Counts);
  return Sum;
}
