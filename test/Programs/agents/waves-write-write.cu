// Intent: Table 3, inter-wave GMEM WW: blocks of the first and of the last waves store to
// the same cells; most of them run at the same time only if blocks are shuffled. The fixed
// twin has a cell for each block.
// Others: iGUARD finds it, SuperCollider if its shuffle lets such blocks meet; Compute
// Sanitizer does not.
// SEEDS: 20
#include "../check.h"

constexpr unsigned Threads = 64;
CONSTANT Scaled<32768, 1024> Blocks;

__global__ void fill(unsigned *Cells, unsigned *Out) {
  unsigned At = blockIdx.x;
#ifdef RACY
  if (At >= Blocks / 2)
    At = Blocks - 1 - At;
#endif
  Out[blockIdx.x * Threads + threadIdx.x] = blockIdx.x;
  if (threadIdx.x == 0)
    Cells[At] = blockIdx.x + 1; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Blocks), *Out = zeroed<unsigned>(Blocks * Threads);
  fill<<<Blocks, Threads>>>(Cells, Out);
  return finish(
      matches(Cells, Blocks, [](size_t I) { return unsigned(I + 1); }) &&
      matches(Out, Blocks * Threads, [](size_t I) { return unsigned(I / Threads); }));
}
