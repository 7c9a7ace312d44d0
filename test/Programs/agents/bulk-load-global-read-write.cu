// Intent: Table 3, cp.async.bulk (global->shared) GMEM RW: threads overwrite the global
// row that a bulk copy still reads. The fixed twin's threads wait for the copy first.
// Others: iGUARD, Compute Sanitizer and SuperCollider do not find it.
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

__global__ void pass(unsigned *Rows, unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x;
  unsigned *Row = Rows + blockIdx.x * Threads, Sum = 0;
  if (T == 0)
    initBarrier(&Full, 1);
  __syncthreads();
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (T == 0) {
      expect(&Full, sizeof Tile);
      BULK_LOAD(Tile, Row, sizeof Tile, &Full); // RACE
    }
#ifndef RACY
    wait(&Full, (R - 1) % 2);
#endif
    Row[T] = R * Threads + T; // RACE
#ifdef RACY
    wait(&Full, (R - 1) % 2);
#endif
    Sum += Tile[Threads - 1 - T];
    fenceForCopies();
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Rows = zeroed<unsigned>(Blocks * Threads);
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  pass<<<Blocks, Threads>>>(Rows, Out);
  return finish(matches(Out, Blocks * Threads, [](size_t I) {
    const unsigned From = Threads - 1 - I % Threads;
    return Rounds * (Rounds - 1) / 2 * Threads + (Rounds - 1) * From;
  }));
}
