// Intent: halves of a warp work on their own, with __syncwarp of their own
// lanes, while other lanes have left; that is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 16, Rounds = 50;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[32];
  unsigned Lane = threadIdx.x, Sum = 0;
  if (Lane % 16 >= 12)
    return;
  unsigned Mask = Lane < 16 ? 0x00000fff : 0x0fff0000;
  unsigned Base = Lane & 16, Next = Base + (Lane - Base + 5) % 12;
  if (Lane < 16) {
    for (unsigned R = 1; R <= Rounds; ++R) {
      Cells[Lane] = R;
      __syncwarp(Mask);
      Sum += Cells[Next];
      __syncwarp(Mask);
    }
  } else {
    for (unsigned R = 1; R <= 2 * Rounds; ++R) {
      Cells[Lane] = R + Lane;
      __syncwarp(Mask);
      Sum += Cells[Next] - Next;
      __syncwarp(Mask);
    }
  }
  Out[blockIdx.x * 32 + Lane] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32);
  exchange<<<Blocks, 32>>>(Out);
  return finish(matches(Out, Blocks * 32, [](size_t I) -> unsigned {
    if (I % 16 >= 12)
      return 0;
    unsigned Count = I % 32 < 16 ? Rounds : 2 * Rounds;
    return Count * (Count + 1) / 2;
  }));
}
