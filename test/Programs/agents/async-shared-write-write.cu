// Intent: Table 3, cp.async SMEM WW: the copies of two warps, or a copy and a store, go to
// the same cells. The fixed twins have cells for each warp.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// FIXED: copies
// FIXED: copy-and-store -DSTORE
// RACY: same-copies -DSAME
// RACY: same-copy-and-store -DSAME -DSTORE
// ARCH: sm_80
#include "asynchronous.h"

constexpr unsigned Warp = 32, Threads = 2 * Warp, Blocks = 4;
CONSTANT Scaled<200, 12> Rounds;

#ifdef SAME
constexpr unsigned Width = Warp;
#else
constexpr unsigned Width = Threads;
#endif

__global__ void fill(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Cells[Threads];
  const unsigned T = threadIdx.x;
  const unsigned At = T % Width;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned *From = In + R * Threads + T;
#ifdef STORE
    if (T >= Warp)
      Cells[At] = *From; // RACE: same-copy-and-store
    else
#endif
      COPY4(&Cells[At], From); // RACE
    commitCopies();
    awaitCopies();
    __syncthreads();
    Sum += Cells[(T + Warp) % Width];
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Rounds * Threads; ++I)
    In.push_back(I + 1);
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  fill<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned From = (I + Warp) % Threads;
    return Rounds * (Rounds - 1) / 2 * Threads + Rounds * (From + 1);
  }));
}
