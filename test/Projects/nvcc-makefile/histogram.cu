#include "histogram.h"

extern __device__ int bin(int Value);

__global__ void histogram(int *Counts, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
#ifdef RACY
  Counts[bin(I)] += 1; // RACE
#else
  atomicAdd(&Counts[bin(I)], 1);
#endif
}

int countedValues(int N) {
  int *Counts;
  cudaMallocManaged(&Counts, Bins * sizeof(int));
  for (int I = 0; I < Bins; ++I)
    Counts[I] = 0;
  histogram<<<(N + 127) / 128, 128>>>(Counts, N);
  register int Sum = 0; // nvcc warns of the word, at most.
  if (cudaDeviceSynchronize() == cudaSuccess)
    for (int I = 0; I < Bins; ++I)
      Sum += Counts[I];
  cudaFree(Counts);
  return Sum;
}
