// Intent: where no shadow can be had at all, global memory is not checked, which is
// said; shared memory is.
// OPTIONS: shadow_limit=1
// EXPECT: CRSan: metadata mode: no room on device 0 for exact shadow of all memory of the program: at most 0 MiB were tracked exactly, 0 MiB by a cache, which may miss races, and [1-9]\d* MiB not at all
// EXPECT: CRSan: metadata mode checked \d+ accesses of functions with \d+ sites in \d+ kernel launch\w*; not checked: [1-9]\d* \(there was no room
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;

__global__ void reverse(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  Tile[I] = In[First + I]; // RACE
#ifndef RACY
  __syncthreads();
#endif
  Out[First + I] = Tile[Threads - 1 - I]; // RACE
}

int main() {
  std::vector<unsigned> In(N);
  for (unsigned I = 0; I < N; ++I)
    In[I] = I + 1;
  unsigned *Out = zeroed<unsigned>(N);
  reverse<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, N, [](size_t I) {
    return I / Threads * Threads + Threads - I % Threads;
  }));
}
