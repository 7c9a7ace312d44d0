// Intent: a guarded load that does not vary in a loop must not be hoisted out of
// the loop and then checked: the guard is false while another warp writes.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "../check.h"

constexpr unsigned Blocks = 8, Rounds = 100;

__global__ void update(unsigned *Out, bool Enabled) {
  __shared__ unsigned Cell;
  unsigned Lane = threadIdx.x % 32, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (threadIdx.x == 0)
      Cell = R;
    if (threadIdx.x >= 32)
      for (unsigned K = 0; K < R; ++K) {
        Sum ^= K * Lane;
        if (Enabled)
          Sum += Cell;
      }
    __syncwarp();
  }
  Out[blockIdx.x * 64 + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 64);
  update<<<Blocks, 64>>>(Out, false);
  return finish(matches(Out, Blocks * 64, [](size_t I) {
    unsigned Sum = 0;
    for (unsigned R = 1; R <= Rounds && I % 64 >= 32; ++R)
      for (unsigned K = 0; K < R; ++K)
        Sum ^= K * (I % 32);
    return Sum;
  }));
}
