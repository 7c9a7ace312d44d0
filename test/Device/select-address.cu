// Intent: a load through one of two addresses must not become two loads, one of
// which nobody executed.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "check.h"

constexpr unsigned Blocks = 8, Rounds = 100;

__global__ void update(unsigned *Out) {
  __shared__ unsigned Even[32], Odd[32];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32, Sum = 0;
  unsigned *Cell = Warp % 2 ? &Odd[Lane] : &Even[Lane];
  for (unsigned R = 1; R <= Rounds; ++R) {
    *Cell = R * (Warp + 1);
    __syncwarp();
    Sum += *Cell;
    __syncwarp();
  }
  Out[blockIdx.x * 64 + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 64);
  update<<<Blocks, 64>>>(Out);
  return finish(matches(Out, Blocks * 64, [](size_t I) {
    return Rounds * (Rounds + 1) / 2 * (I / 32 % 2 + 1);
  }));
}
