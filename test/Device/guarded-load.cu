// Intent: a load that only the owner executes must not be hoisted over its
// guard and then checked.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "check.h"

constexpr unsigned Warps = 4, Blocks = 8, Rounds = 100;

__global__ void update(unsigned *Out, unsigned Owner) {
  __shared__ unsigned Cells[32];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32, Sum = 0;
  if (Warp == 0)
    Cells[Lane] = 0;
  __syncthreads();
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (Warp == Owner)
      Cells[Lane] = R + Lane;
    __syncwarp();
    unsigned Value = Warp == Owner ? Cells[Lane] : R;
    Sum += Value;
  }
  Out[blockIdx.x * Warps * 32 + threadIdx.x] = Sum;
}

int main() {
  constexpr unsigned N = Blocks * Warps * 32, Owner = 2;
  unsigned *Out = zeroed<unsigned>(N);
  update<<<Blocks, Warps * 32>>>(Out, Owner);
  return finish(matches(Out, N, [](size_t I) {
    return Rounds * (Rounds + 1) / 2 +
           (I / 32 % Warps == Owner ? Rounds * (I % 32) : 0);
  }));
}
