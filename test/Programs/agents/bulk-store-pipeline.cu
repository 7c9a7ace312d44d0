// Intent: a block computes rows into staging buffers, from which bulk copies store them
// while the block computes the next rows. A buffer is used again when its copy has read it
// (wait_group.read). The racy twins wait for one group too few, or tell no one.
// FIXED: two-buffers
// FIXED: three-buffers -DBUFFERS=3
// RACY: one-too-few -DKEEP=BUFFERS
// RACY: no-barrier -DNO_BARRIER
// ARCH: sm_90
#include "asynchronous.h"

#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef KEEP
#define KEEP (BUFFERS - 1)
#endif

constexpr unsigned Threads = 64, Row = 2 * Threads, Blocks = 2;
CONSTANT Scaled<64, 10> Rows;

/// Rows of a triangle of numbers: each number is the sum of two of the row before.
__global__ void triangle(unsigned *Out) {
  __shared__ alignas(128) unsigned Buffers[BUFFERS][Row];
  const unsigned T = threadIdx.x;
  unsigned *To = Out + blockIdx.x * Rows * Row;
  unsigned Left = T == 0, Right = 0; // Of the row before: cells 2 T and 2 T + 1.
  for (unsigned R = 0; R < Rows; ++R) {
    unsigned *Buffer = Buffers[R % BUFFERS];
    // Whoever has begun the copies waits until this buffer has been read.
    if (T == 0)
      awaitBulkReads<KEEP>();
#ifndef NO_BARRIER
    __syncthreads();
#endif
    Buffer[2 * T] = Left;      // RACE
    Buffer[2 * T + 1] = Right; // RACE
    fenceForCopies();
    __syncthreads();
    if (T == 0) {
      BULK_STORE(To + R * Row, Buffer, Row * sizeof(unsigned)); // RACE
      commitBulk();
    }
    const unsigned Before = T ? Buffer[2 * T - 1] : 0;
    Right += Left;
    Left += Before;
  }
  if (T == 0)
    awaitBulkReads(); // The block's shared memory ends with it.
}

int main() {
  const unsigned N = Blocks * Rows * Row;
  unsigned *Out = zeroed<unsigned>(N);
  triangle<<<Blocks, Threads>>>(Out);
  std::vector<unsigned> Want(Rows * Row);
  Want[0] = 1;
  for (unsigned R = 1; R < Rows; ++R)
    for (unsigned I = 0; I < Row; ++I) {
      const unsigned *Above = &Want[(R - 1) * Row];
      Want[R * Row + I] = Above[I] + (I ? Above[I - 1] : 0);
    }
  return finish(matches(Out, N, [&](size_t I) { return Want[I % (Rows * Row)]; }));
}
