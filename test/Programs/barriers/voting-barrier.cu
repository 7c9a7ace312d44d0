// Intent: an iteration goes on until nothing changes any more in the whole block, which
// the block's barrier finds out. The racy twin asks its own warp only.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

/// Whether it is so for any thread.
__device__ bool anyThread(bool Mine) {
#ifdef RACY
  return __any_sync(~0u, Mine);
#else
  return __syncthreads_or(Mine);
#endif
}

/// Each word becomes the maximum of all up to it.
__global__ void spread(unsigned *Cells) {
  __shared__ unsigned Words[2][Threads];
  unsigned T = threadIdx.x, Now = 0;
  Words[0][T] = Cells[blockIdx.x * Threads + T]; // RACE
  anyThread(true);
  for (bool Changed = true; Changed; Now ^= 1) {
    unsigned Old = Words[Now][T], Left = T ? Words[Now][T - 1] : 0; // RACE
    Words[1 - Now][T] = max(Old, Left); // RACE
    Changed = anyThread(Left > Old);
  }
  Cells[blockIdx.x * Threads + T] = Words[Now][T];
}

int main() {
  std::vector<unsigned> Host(N);
  for (unsigned I = 0; I < N; ++I)
    Host[I] = I % Threads * 29 % 61;
  unsigned *Cells = upload(Host);
  spread<<<Blocks, Threads>>>(Cells);
  for (unsigned I = 0; I < N; ++I)
    if (I % Threads)
      Host[I] = std::max(Host[I], Host[I - 1]);
  return finish(matches(Cells, N, [&](size_t I) { return Host[I]; }));
}
