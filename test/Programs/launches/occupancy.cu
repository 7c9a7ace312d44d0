// Intent: a grid that would run all at once, if its kernel did not take so many
// registers, is told so; its blocks do not wait for each other, and it ends.
// CLEAN-ONLY
// EXPECT-GPU: CRSan: kernel mix\(.*\): only \d+ of its \d+ blocks run at a time, for want of registers \(
#include "../check.h"

constexpr unsigned Threads = 256, Values = 96;
CONSTANT Scaled<1, 8> Part; // Simulated registers limit nothing.

/// Every value is needed until the last one has been read.
__global__ void mix(const unsigned *In, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, N = gridDim.x * Threads;
  unsigned V[Values];
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    V[K] = In[(I + K) % N];
  unsigned Turn = V[Values - 1] % 2;
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    Turn = (Turn ^ V[Values - 1 - K]) * 3;
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    Turn = (Turn + V[K]) * 5;
  Out[I] = Turn;
}

int main() {
  int PerProcessor, Processors;
  CHECK(cudaDeviceGetAttribute(&PerProcessor,
                               cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  CHECK(cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount, 0));
  unsigned Blocks = PerProcessor / Threads * Processors / Part, N = Blocks * Threads;
  std::vector<unsigned> In(N);
  for (unsigned I = 0; I < N; ++I)
    In[I] = I * 2654435761u;
  unsigned *Out = zeroed<unsigned>(N);
  mix<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, N, [&](size_t I) {
    auto V = [&](unsigned K) { return In[(I + K) % N]; };
    unsigned Turn = V(Values - 1) % 2;
    for (unsigned K = 0; K < Values; ++K)
      Turn = (Turn ^ V(Values - 1 - K)) * 3;
    for (unsigned K = 0; K < Values; ++K)
      Turn = (Turn + V(K)) * 5;
    return Turn;
  }));
}
