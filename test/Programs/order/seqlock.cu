// Intent: a sequence lock: readers try again if the number has changed meanwhile. What
// it guards is read while it may be written, so it must be read by strong accesses.
#include "../check.h"
#include "../orders.h"

constexpr unsigned Readers = 3, Writes = 8, Cells = 4;

struct Guarded {
  unsigned Sequence, Begun, Wrong;
  unsigned Data[Cells];
};

__device__ void write(Guarded *G, unsigned Value) {
  unsigned Sequence = LOAD(relaxed, &G->Sequence);
  STORE(relaxed, &G->Sequence, Sequence + 1);
  FENCE(acq_rel);
  for (unsigned I = 0; I < Cells; ++I)
    STORE(relaxed, &G->Data[I], Value + I); // RACE
  STORE(release, &G->Sequence, Sequence + 2);
}

/// The first word, once all words have been read between two equal numbers.
__device__ unsigned read(Guarded *G) {
  for (;;) {
    unsigned Before = LOAD(acquire, &G->Sequence), Cell[Cells];
    for (unsigned I = 0; I < Cells; ++I)
#ifdef RACY
      Cell[I] = G->Data[I]; // RACE
#else
      Cell[I] = LOAD(relaxed, &G->Data[I]);
#endif
    FENCE(acq_rel);
    if (Before % 2 != 0 || LOAD(relaxed, &G->Sequence) != Before)
      continue;
    for (unsigned I = 1; I < Cells; ++I)
      if (Before != 0 && Cell[I] != Cell[0] + I)
        atomicAdd(&G->Wrong, 1);
    return Cell[0];
  }
}

__global__ void run(Guarded *G) {
  if (blockIdx.x < Readers) {
    unsigned Value = read(G);
    UPDATE(relaxed, add.u32, &G->Begun, 1);
    while (Value != 10 * Writes)
      Value = read(G);
    return;
  }
  // Each reader has read at least once before anything is written.
  while (LOAD(relaxed, &G->Begun) < Readers)
    ;
  for (unsigned W = 1; W <= Writes; ++W)
    write(G, 10 * W);
}

int main() {
  Guarded *G = zeroed<Guarded>(1);
  run<<<Readers + 1, 1>>>(G);
  return finish(matches(&G->Wrong, 1, [](size_t) { return 0u; }));
}
