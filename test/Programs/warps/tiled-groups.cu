// Intent: cooperative groups' tiles exchange values through shared memory with
// their own sync; the racy variant leaves it out.
// SEEDS: 20
#include "../check.h"
#include <cooperative_groups.h>

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 50;

__global__ void exchange(unsigned *Out) {
  namespace cg = cooperative_groups;
  cg::thread_block Block = cg::this_thread_block();
  cg::thread_block_tile<8> Tile = cg::tiled_partition<8>(Block);
  __shared__ unsigned Cells[Threads];
  unsigned T = threadIdx.x, Base = T - Tile.thread_rank(), Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[T] = R * Threads + T; // RACE
#ifndef RACY
    Tile.sync();
#endif
    Sum += Cells[Base + (Tile.thread_rank() + 3) % 8]; // RACE
    Tile.sync();
  }
  Block.sync();
  Out[Block.group_index().x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned T = I % Threads, Neighbour = T / 8 * 8 + (T + 3) % 8;
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour;
  }));
}
