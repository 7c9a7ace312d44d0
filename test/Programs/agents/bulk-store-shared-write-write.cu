// Intent: Table 3, cp.async.bulk (shared->global) SMEM WW: several threads write to one
// address. The paper says no more, so there are two racy twins: two warps store to the
// same half of the tile that is copied; two bulk copies write the same global row.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// FIXED: fixed
// RACY: same-cells -DSAME_CELLS
// RACY: same-row -DSAME_ROW
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Warp = 32, Threads = 2 * Warp, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

__global__ void fill(unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  const unsigned T = threadIdx.x;
#ifdef SAME_CELLS
  const unsigned At = T % Warp;
#else
  const unsigned At = T;
#endif
  Tile[T] = 0;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Row = Out + (blockIdx.x * Rounds + R) * Threads;
    Tile[At] = R * Threads + T; // RACE: same-cells
    fenceForCopies();
    __syncthreads();
    if (T % Warp == 0) {
#ifdef SAME_ROW
      BULK_STORE(Row, Tile + T, Warp * sizeof(unsigned)); // RACE: same-row
#else
      BULK_STORE(Row + T, Tile + T, Warp * sizeof(unsigned));
#endif
      commitBulk();
      awaitBulk();
    }
    __syncthreads();
  }
}

int main() {
  const unsigned N = Blocks * Rounds * Threads;
  unsigned *Out = zeroed<unsigned>(N);
  fill<<<Blocks, Threads>>>(Out);
  return finish(
      matches(Out, N, [](size_t I) { return unsigned(I % (Rounds * Threads)); }));
}
