// Intent: Table 3, cp.async.bulk (shared->global) GMEM RW: threads read the global rows
// that a bulk copy still writes. The racy twins do not wait for the copy, or only for
// what it reads.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// RACY: no-wait -DWAIT=
// RACY: waits-for-reads -DWAIT=awaitBulkReads()
// FIXED: fixed -DWAIT=awaitBulk()
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

__global__ void pass(unsigned *Rows, unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[Threads];
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Row = Rows + (blockIdx.x * Rounds + R) * Threads;
    Tile[T] = R * Threads + T;
    fenceForCopies();
    __syncthreads();
    if (T == 0) {
      BULK_STORE(Row, Tile, sizeof Tile); // RACE
      commitBulk();
      WAIT;
    }
    __syncthreads();
    Sum += Row[Threads - 1 - T]; // RACE
    if (T == 0)
      awaitBulk();
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Rows = zeroed<unsigned>(Blocks * Rounds * Threads);
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  pass<<<Blocks, Threads>>>(Rows, Out);
  return finish(matches(Out, Blocks * Threads, [](size_t I) {
    const unsigned From = Threads - 1 - I % Threads;
    return Rounds * (Rounds - 1) / 2 * Threads + Rounds * From;
  }));
}
