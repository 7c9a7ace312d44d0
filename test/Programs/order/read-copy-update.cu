// Intent: a writer publishes new versions of plain data in two buffers by turns; it
// writes into one again when all readers have said that they have left it.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Readers = 3, Versions = 8, Cells = 4;

struct Shared {
  unsigned Current, Wrong;
  unsigned Left[Readers]; // The version that a reader has read last.
  unsigned Buffers[2][Cells];
};

__device__ void read(Shared *S, unsigned Reader) {
  for (unsigned Version = 0; Version < Versions;) {
    Version = LOAD(acquire, &S->Current);
    for (unsigned I = 0; I < Cells; ++I)
      if (S->Buffers[Version % 2][I] != Version * I) // RACE
        atomicAdd(&S->Wrong, 1);
    STORE(RELEASE_UNLESS_RACY, &S->Left[Reader], Version);
  }
}

__device__ void write(Shared *S) {
  for (unsigned Version = 1; Version <= Versions; ++Version) {
    // Nobody reads the version before the last one any more.
    for (unsigned R = 0; R < Readers; ++R)
      while (LOAD(acquire, &S->Left[R]) + 1 < Version)
        ;
    for (unsigned I = 0; I < Cells; ++I)
      S->Buffers[Version % 2][I] = Version * I; // RACE
    STORE(release, &S->Current, Version);
  }
}

__global__ void run(Shared *S) {
  if (blockIdx.x < Readers)
    read(S, blockIdx.x);
  else
    write(S);
}

int main() {
  Shared *S = zeroed<Shared>(1);
  run<<<Readers + 1, 1>>>(S);
  return finish(matches(&S->Wrong, 1, [](size_t) { return 0u; }));
}
