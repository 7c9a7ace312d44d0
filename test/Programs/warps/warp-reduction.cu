// Intent: the tree of a warp's reduction in shared memory relies on lockstep
// instead of __syncwarp.
// SEEDS: 20
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8, Rounds = 50;

__global__ void reduce(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned Lane = threadIdx.x % 32, Total = 0;
  unsigned *Values = Tile + threadIdx.x - Lane;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Values[Lane] = R + Lane;
    __syncwarp();
    for (unsigned Offset = 16; Offset > 0; Offset /= 2) {
      if (Lane < Offset)
        Values[Lane] += Values[Lane + Offset]; // RACE
#ifndef RACY
      __syncwarp();
#endif
    }
    if (Lane == 0)
      Total += Values[0];
    __syncwarp();
  }
  if (Lane == 0)
    Out[(blockIdx.x * Threads + threadIdx.x) / 32] = Total;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads / 32);
  reduce<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * Threads / 32, [](size_t) {
    return 32 * (Rounds * (Rounds + 1) / 2) + Rounds * (31 * 32 / 2);
  }));
}
