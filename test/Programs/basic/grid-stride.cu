// Intent: a grid-stride loop strides by the block instead of by the grid, so
// that several blocks update each element.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, N = Threads * Blocks * 4;

__global__ void add(const unsigned *In, unsigned *Out) {
#ifdef RACY
  unsigned Stride = blockDim.x;
#else
  unsigned Stride = blockDim.x * gridDim.x;
#endif
  for (unsigned I = blockIdx.x * blockDim.x + threadIdx.x; I < N; I += Stride)
    Out[I] += In[I]; // RACE
}

int main() {
  unsigned *In = upload(std::vector<unsigned>(N, 5));
  unsigned *Out = zeroed<unsigned>(N);
  add<<<Blocks, Threads>>>(In, Out);
  return finish(matches(Out, N, [](size_t) { return 5u; }));
}
