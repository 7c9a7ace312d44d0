// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histogram of bytes: each block counts in shared memory by atomics and adds
// its counts to the result. The planted variant counts without atomics.

#include "Suite.h"

constexpr int Bins = 256, Threads = 256;

__global__ void histogram(int N, const unsigned char *Data, unsigned *Counts) {
  __shared__ unsigned Own[Bins];
  Own[threadIdx.x] = 0;
  __syncthreads();
  for (int I = blockIdx.x * Threads + threadIdx.x; I < N;
       I += gridDim.x * Threads)
    VARIANT(atomicAdd(&Own[Data[I]], 1), Own[Data[I]] += 1); // RACE
  __syncthreads();
  atomicAdd(&Counts[threadIdx.x], Own[threadIdx.x]);
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 1 << 12 : 1 << 24;
  std::vector<unsigned char> Bytes(N);
  std::vector<unsigned> Want(Bins);
  for (unsigned char &Byte : Bytes)
    ++Want[Byte = static_cast<unsigned char>(draw())];
  DeviceArray<unsigned char> Data(Bytes);
  DeviceArray<unsigned> Counts(Bins);
  histogram<<<Small ? 4 : 1024, Threads>>>(N, Data, Counts);
  return finish(Counts.download() == Want);
}
