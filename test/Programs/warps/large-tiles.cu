// Intent: tiles of two warps, which synchronise through memory that cooperative groups
// are given for it. The racy twin synchronises its warp only.
// ARCH: sm_80
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 128, Size = 64, Blocks = 2, N = Threads * Blocks, Rounds = 3;

__global__ void rotate(unsigned *Out) {
  __shared__ cg::block_tile_memory<Threads> Memory;
  __shared__ unsigned Cells[Threads];
  auto Block = cg::this_thread_block(Memory);
  auto Tile = cg::tiled_partition<Size>(Block);
  unsigned T = threadIdx.x, First = T / Size * Size, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[T] = T + R; // RACE
#ifdef RACY
    __syncwarp();
#else
    Tile.sync();
#endif
    Sum += Cells[First + (T + 32) % Size]; // RACE
    Tile.sync();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  rotate<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    unsigned T = I % Threads, Other = T / Size * Size + (T + 32) % Size;
    return Rounds * Other + Rounds * (Rounds - 1) / 2;
  }));
}
