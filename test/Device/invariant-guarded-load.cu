// Intent: a guarded load that does not vary in a loop must not be hoisted out of
// the loop and then checked: the guard is false while another warp writes.
// CLEAN-ONLY
// ALSO: -O3 -g
#include "check.h"

constexpr unsigned Blocks = 8, Rounds = 100;

__device__ __forceinline__ unsigned sum(const unsigned *Cells, unsigned Lane,
                                        unsigned Count, bool Enabled) {
  unsigned Sum = 0;
  for (unsigned K = 0; K < Count; ++K) {
    Sum ^= K * Lane;
    if (Enabled)
      Sum += Cells[Lane];
  }
  return Sum;
}

__global__ void update(unsigned *Out, bool Enabled) {
  __shared__ unsigned Cells[32];
  unsigned Lane = threadIdx.x % 32, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (threadIdx.x < 32)
      Cells[Lane] = Sum += R;
    else
      Sum += sum(Cells, Lane, R, Enabled);
    __syncwarp();
  }
  Out[blockIdx.x * 64 + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 64);
  update<<<Blocks, 64>>>(Out, false);
  return finish(matches(Out, Blocks * 64, [](size_t I) {
    unsigned Sum = 0;
    for (unsigned R = 1; R <= Rounds; ++R) {
      unsigned Part = I % 64 < 32 ? R : 0;
      for (unsigned K = 0; I % 64 >= 32 && K < R; ++K)
        Part ^= K * (I % 32);
      Sum += Part;
    }
    return Sum;
  }));
}
