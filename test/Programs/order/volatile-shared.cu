// Intent: warps of a block take turns by a volatile word in shared memory; the
// plain data that they hand on is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Warps = 8, Blocks = 8;
CONSTANT Scaled<20, 5> Rounds;

__global__ void relay(unsigned *Out) {
  __shared__ unsigned Turn, Baton[32];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    Turn = 0;
  if (Warp == 0)
    Baton[Lane] = Lane;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    while (*(volatile unsigned *)&Turn != R * Warps + Warp)
      ;
    __threadfence_block();
    Baton[Lane] = 3 * Baton[Lane] + Warp;
    __threadfence_block();
    __syncwarp();
    if (Lane == 0)
      *(volatile unsigned *)&Turn = R * Warps + Warp + 1;
  }
  __syncthreads();
  if (Warp == 0)
    Out[blockIdx.x * 32 + Lane] = Baton[Lane];
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32);
  relay<<<Blocks, Warps * 32>>>(Out);
  return finish(matches(Out, Blocks * 32, [](size_t I) {
    unsigned Baton = I % 32;
    for (unsigned Step = 0; Step < Rounds * Warps; ++Step)
      Baton = 3 * Baton + Step % Warps;
    return Baton;
  }));
}
