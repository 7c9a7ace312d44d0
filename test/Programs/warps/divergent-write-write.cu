// Intent: the two halves of a warp store to the same cells on the two sides of
// a branch.
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"

constexpr unsigned Blocks = 16, Rounds = 100;

__global__ void fill(unsigned *Out, unsigned *Stores) {
  __shared__ unsigned Cells[32];
  unsigned Lane = threadIdx.x;
#ifdef RACY
  unsigned Upper = 31 - Lane;
#else
  unsigned Upper = Lane;
#endif
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (Lane < 16) {
      Cells[Lane] = 2 * R; // RACE
    } else {
      Cells[Upper] = 2 * R + 1; // RACE
      // Keeps the two stores apart: an optimiser may merge them otherwise.
      atomicAdd(Stores, 1);
    }
    __syncwarp();
  }
  Out[blockIdx.x * 32 + Lane] = Cells[Lane];
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 32), *Stores = zeroed<unsigned>(1);
  fill<<<Blocks, 32>>>(Out, Stores);
  return finish(
      matches(Out, Blocks * 32,
              [](size_t I) { return 2 * Rounds + (I % 32 < 16 ? 0 : 1); }) &&
      matches(Stores, 1, [](size_t) { return Blocks * 16 * Rounds; }));
}
