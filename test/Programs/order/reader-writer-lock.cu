// Intent: a lock of many readers or one writer. In the racy twin a reader that leaves
// does not release, so that a later write races with what it has read.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Readers = 3, Reads = 5, Cells = 4, Writing = 1u << 31;

struct Shared {
  unsigned Lock, Done, Wrong;
  unsigned Data[Cells];
};

__device__ void write(Shared *S) {
  while (SWAP(acquire, &S->Lock, 0, Writing) != 0)
    ;
  for (unsigned I = 0; I < Cells; ++I)
    S->Data[I] += I + 1; // RACE
  STORE(release, &S->Lock, 0);
}

__device__ void read(Shared *S) {
  unsigned Lock;
  do
    Lock = LOAD(relaxed, &S->Lock) & ~Writing;
  while (SWAP(acquire, &S->Lock, Lock, Lock + 1) != Lock);
  unsigned First = S->Data[0]; // RACE
  for (unsigned I = 1; I < Cells; ++I)
    if (S->Data[I] != First * (I + 1)) // RACE
      atomicAdd(&S->Wrong, 1);
  UPDATE(RELEASE_UNLESS_RACY, add.u32, &S->Lock, -1);
}

__global__ void run(Shared *S) {
  if (blockIdx.x < Readers) {
    for (unsigned R = 0; R < Reads; ++R) {
      read(S);
      UPDATE(relaxed, add.u32, &S->Done, 1);
    }
    return;
  }
  while (LOAD(relaxed, &S->Done) < Readers * Reads) {
    write(S);
    __nanosleep(500); // Leaves the lock to the readers.
  }
  write(S);
}

int main() {
  Shared *S = zeroed<Shared>(1);
  run<<<Readers + 1, 1>>>(S);
  return finish(matches(&S->Wrong, 1, [](size_t) { return 0u; }));
}
