// Intent: Table 3, inter-subwarp SMEM RW: one half of a warp stores what the other half
// reads on the other side of a branch. The racy twins lack a barrier of both halves.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// FIXED: whole-warp -DMASK=0xffffffff
// RACY: no-barrier
// RACY: half-barriers -DMASK=(Lane<Half?0xffff:0xffff0000)
// UNSEEN-GPU: collider (half-barriers): lanes of a warp that part do not overlap in time
#include "../check.h"

constexpr unsigned Half = 16, Blocks = 16;
CONSTANT Scaled<100, 10> Rounds;

#ifdef MASK
#define MEET __syncwarp(MASK)
#else
#define MEET
#endif

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[Half];
  unsigned Lane = threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (Lane < Half) {
      Cells[Lane] = R * Half + Lane; // RACE
      MEET;
    } else {
      MEET;
      Sum += Cells[Lane - Half]; // RACE
    }
    __syncwarp();
  }
  Out[blockIdx.x * 32 + Lane] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32);
  exchange<<<Blocks, 32>>>(Out);
  return finish(matches(Out, Blocks * 32, [](size_t I) -> unsigned {
    unsigned Lane = I % 32;
    return Lane < Half ? 0
                       : Half * (Rounds * (Rounds + 1) / 2) + Rounds * (Lane - Half);
  }));
}
