// Intent: a cooperative kernel reads what another block wrote before, or
// without, the grid-wide barrier.
#include "../check.h"
#include <cooperative_groups.h>

constexpr unsigned Threads = 128, Blocks = 32, N = Threads * Blocks;
CONSTANT Scaled<30, 10> Rounds;

__global__ void exchange(unsigned *Cells, unsigned *Out) {
  cooperative_groups::grid_group Grid = cooperative_groups::this_grid();
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[I] = R * N + I; // RACE
#ifndef RACY
    Grid.sync();
#endif
    Sum += Cells[(I + Threads) % N]; // RACE
    Grid.sync();
  }
  Out[I] = Sum;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  void *Arguments[] = {&Cells, &Out};
  CHECK(cudaLaunchCooperativeKernel((const void *)exchange, Blocks, Threads,
                                    Arguments, 0, 0));
  return finish(matches(Out, N, [](size_t I) {
    return N * (Rounds * (Rounds + 1) / 2) + Rounds * ((I + Threads) % N);
  }));
}
