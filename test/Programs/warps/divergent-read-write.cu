// Intent: one half of a warp stores what the other half reads on the other side
// of a branch.
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"

constexpr unsigned Blocks = 16, Rounds = 100;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[16];
  unsigned Lane = threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
#ifdef RACY
    if (Lane < 16)
      Cells[Lane] = R * 16 + Lane; // RACE
    else
      Sum += Cells[Lane - 16]; // RACE
#else
    if (Lane < 16)
      Cells[Lane] = R * 16 + Lane;
    __syncwarp();
    if (Lane >= 16)
      Sum += Cells[Lane - 16];
#endif
    __syncwarp();
  }
  Out[blockIdx.x * 32 + Lane] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32);
  exchange<<<Blocks, 32>>>(Out);
  return finish(matches(Out, Blocks * 32, [](size_t I) -> unsigned {
    unsigned Lane = I % 32;
    return Lane < 16 ? 0 : 16 * (Rounds * (Rounds + 1) / 2) + Rounds * (Lane - 16);
  }));
}
