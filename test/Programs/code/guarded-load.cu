// Intent: a load that only the owner executes must not be hoisted over its
// guard and then checked. One shared word, so that an optimiser may hoist.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 100;

__global__ void update(unsigned *Out, unsigned Owner) {
  __shared__ unsigned Cell;
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (threadIdx.x == Owner)
      Cell = 2 * R;
    __syncwarp();
    unsigned Value = R;
    if (threadIdx.x == Owner)
      Value = Cell;
    Sum += Value;
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  constexpr unsigned N = Blocks * Threads, Owner = 40;
  unsigned *Out = zeroed<unsigned>(N);
  update<<<Blocks, Threads>>>(Out, Owner);
  return finish(matches(Out, N, [](size_t I) {
    return Rounds * (Rounds + 1) / 2 * (I % Threads == Owner ? 2 : 1);
  }));
}
