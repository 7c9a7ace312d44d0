// Intent: a load through one of two addresses must not become two loads, one of
// which nobody executed.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "../check.h"

constexpr unsigned Blocks = 16, Rounds = 100;

__global__ void update(unsigned *Out) {
  __shared__ unsigned Cells[2];
  unsigned Warp = threadIdx.x / 32, Sum = 0;
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 1; R <= Rounds; ++R) {
    // The fence stands between the store and the load that could be forwarded.
    *(Warp % 2 ? &Cells[1] : &Cells[0]) = R * (Warp + 1);
    __threadfence_block();
    Sum += Warp % 2 ? Cells[1] : Cells[0];
  }
  Out[blockIdx.x * 2 + Warp] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 2);
  update<<<Blocks, 64>>>(Out);
  return finish(matches(Out, Blocks * 2, [](size_t I) {
    return Rounds * (Rounds + 1) / 2 * (I % 2 + 1);
  }));
}
