// Intent: the first and the last blocks of a grid store to the same cells. They
// never run at the same time unless blocks are shuffled.
// SEEDS: 20
#include "../check.h"

constexpr unsigned Threads = 64, Cells = 64;
CONSTANT Scaled<32768, 1024> Blocks;

__global__ void fill(unsigned *Out, unsigned *Ends) {
  unsigned B = blockIdx.x, Cell = B;
  Out[B * Threads + threadIdx.x] = B;
#ifdef RACY
  if (B >= Blocks - Cells)
    Cell = Blocks - 1 - B;
#endif
  if (threadIdx.x == 0 && Cell < Cells)
    Ends[Cell] = B + 1; // RACE
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  unsigned *Ends = zeroed<unsigned>(Cells);
  fill<<<Blocks, Threads>>>(Out, Ends);
  return finish(
      matches(Out, Threads * Blocks, [](size_t I) { return I / Threads; }) &&
      matches(Ends, Cells, [](size_t I) { return I + 1; }));
}
