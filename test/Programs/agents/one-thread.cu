// Intent: Table 4, between instructions of one thread: a thread's asynchronous copy and the
// accesses that follow it in the same thread are ordered only by a wait.
// FIXED: cp-async
// FIXED: bulk -DBULK
// RACY: read-too-early -DNO_WAIT
// RACY: copied-twice -DTWICE -DNO_WAIT
// RACY: bulk-overwritten -DBULK -DNO_WAIT
// UNSEEN: collider (copied-twice): no value changes while a check looks at it
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 32, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<200, 20> Rounds;

/// A thread copies into a cell of its own.
__global__ void load(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Cells[Threads];
  const unsigned T = threadIdx.x, I = blockIdx.x * Threads + T;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    COPY4(&Cells[T], &In[R * N + I]); // RACE: read-too-early copied-twice
#ifdef TWICE
    COPY4(&Cells[T], &In[R * N + (I + 1) % N]); // RACE: copied-twice
#endif
    commitCopies();
#if !defined(NO_WAIT) || defined(TWICE)
    awaitCopies();
#endif
    Sum += Cells[T]; // RACE: read-too-early
    awaitCopies();
  }
  Out[I] = Sum;
}

/// A block's only thread that works copies from its own tile.
__global__ void store(unsigned *Out) {
  __shared__ alignas(16) unsigned Tile[4];
  if (threadIdx.x != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned First = (blockIdx.x * Rounds + R) * 4;
    for (unsigned I = 0; I < 4; ++I)
      Tile[I] = First + I; // RACE: bulk-overwritten
    fenceForCopies();
    BULK_STORE(Out + First, Tile, sizeof Tile); // RACE: bulk-overwritten
    commitBulk();
#ifndef NO_WAIT
    awaitBulkReads();
#endif
  }
  awaitBulkReads();
}

int main() {
#ifdef BULK
  unsigned *Out = zeroed<unsigned>(Blocks * Rounds * 4);
  store<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * Rounds * 4, [](size_t I) { return unsigned(I); }));
#else
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Rounds * N; ++I)
    In.push_back(I + 1);
  unsigned *Out = zeroed<unsigned>(N);
  load<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, N, [](size_t I) {
    return unsigned(Rounds * (Rounds - 1) / 2 * N + Rounds * (I + 1));
  }));
#endif
}
