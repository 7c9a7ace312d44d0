#include "bins.cuh"

constexpr int Bins = 64;

/// Counts the values of each bin, in shared memory first.
__global__ void histogram(const int *Values, int N, int *Counts) {
  __shared__ int Part[Bins];
  for (int Bin = threadIdx.x; Bin < Bins; Bin += blockDim.x)
    Part[Bin] = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    countInto(Part, Values[I] % Bins);
  __syncthreads();
  for (int Bin = threadIdx.x; Bin < Bins; Bin += blockDim.x)
    Counts[Bin] += Part[Bin];
}
