// Intent: cooperative launches of as many blocks as the library says fit, and as many
// as fit without instrumentation, go through and meet at the grid's barrier.
// CLEAN-ONLY
#include "persistent.h"
#include <cooperative_groups.h>

CONSTANT Scaled<20, 3> Rounds;

__global__ void exchange(unsigned *Cells, unsigned *Out) {
  cooperative_groups::grid_group Grid = cooperative_groups::this_grid();
  const unsigned N = gridDim.x * blockDim.x;
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = R * 3 + I;
    Grid.sync();
    Sum += Cells[(I + blockDim.x * (R + 1)) % N];
    Grid.sync();
  }
  Out[I] = Sum;
}

bool tryGrid(const char *Name, unsigned Blocks) {
  const unsigned N = Blocks * Threads;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  void *Arguments[] = {&Cells, &Out};
  measure(Name, [&] {
    CHECK(cudaLaunchCooperativeKernel((const void *)exchange, Blocks, Threads,
                                      Arguments, 0, 0));
  });
  return matches(Out, N, [&](size_t I) {
    unsigned Sum = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Sum += R * 3 + unsigned((I + Threads * (R + 1)) % N);
    return Sum;
  });
}

int main() {
  bool Right = tryGrid("cooperative", blocksByLibrary(exchange));
  Right &= tryGrid("cooperative-by-hand", blocksByHand());
  return finish(Right);
}
