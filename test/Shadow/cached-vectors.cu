// Intent: vectors that are loaded with a hint for the cache are checked as a whole.
// RACY: int4 -DVECTOR=int4 -DLOAD=__ldcg
// RACY: float2 -DVECTOR=float2 -DLOAD=__ldcs
// RACY: char4 -DVECTOR=char4 -DLOAD=__ldca
// RACY: double2 -DVECTOR=double2 -DLOAD=__ldlu
// FIXED: barrier -DVECTOR=float4 -DLOAD=__ldcg -DBARRIER
#include "../Device/check.h"

constexpr unsigned Threads = 128, Blocks = 4;

__global__ void shift(VECTOR *Cells, VECTOR *Out) {
  unsigned First = blockIdx.x * Threads, T = threadIdx.x;
  Cells[First + T] = VECTOR{}; // RACE
#ifdef BARRIER
  __syncthreads();
#endif
  Out[First + T] = LOAD(&Cells[First + (T ^ 33)]); // RACE
}

int main() {
  VECTOR *Cells = zeroed<VECTOR>(Threads * Blocks);
  VECTOR *Out = zeroed<VECTOR>(Threads * Blocks);
  shift<<<Blocks, Threads>>>(Cells, Out);
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
