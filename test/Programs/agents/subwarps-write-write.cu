// Intent: Table 3, inter-subwarp SMEM WW: the two halves of a warp store to the same
// cells on the two sides of a branch. In the fixed twin one half comes after the other.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
#include "../check.h"

constexpr unsigned Half = 16, Blocks = 16;
CONSTANT Scaled<100, 10> Rounds;

#ifdef RACY
#define MEET
#else
#define MEET __syncwarp()
#endif

__global__ void fill(unsigned *Out, unsigned *Stores) {
  __shared__ unsigned Cells[Half];
  unsigned Lane = threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (Lane < Half) {
      Cells[Lane] = 2 * R; // RACE
      MEET;
    } else {
      MEET;
      Cells[31 - Lane] = 2 * R + 1; // RACE
      // Keeps the two stores apart: an optimiser may merge them otherwise.
      atomicAdd(Stores, 1);
    }
    __syncwarp();
  }
  Out[blockIdx.x * 32 + Lane] = Cells[Lane % Half];
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32), *Stores = zeroed<unsigned>(1);
  fill<<<Blocks, 32>>>(Out, Stores);
  return finish(
      matches(Out, Blocks * 32, [](size_t) { return 2 * Rounds + 1; }) &&
      matches(Stores, 1, [](size_t) { return Blocks * Half * Rounds; }));
}
