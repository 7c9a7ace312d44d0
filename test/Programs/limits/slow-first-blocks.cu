// Intent: metadata mode checks the first blocks of a grid thoroughly, and so they are slow.
// Other blocks have the same warp numbers (there are 32,768), and the checks must not hold
// the first ones up until these begin: nothing would be known of either then, nor of a
// block that acquires from them.
// OPTIONS: sim_multiprocessors=132
// UNSEEN: collider: the stored values are there before any block reads them
#include "../check.h"

constexpr unsigned Numbers = 32768, Early = 64, Blocks = Numbers + 1024;
constexpr unsigned Places = 4; // Which an early block looks at.

__global__ void sumUp(const unsigned *Data, unsigned *Sums, unsigned *Done,
                      unsigned *Total) {
  const unsigned Block = blockIdx.x;
  unsigned Sum = 1;
  if (Block < Early)
#pragma unroll
    for (unsigned I = 0; I < Places; ++I)
      Sum += Data[Block * Places + I];
  Sums[Block] = Sum; // RACE
#ifndef RACY
  __threadfence();
#endif
  if (atomicAdd(Done, 1) != Blocks - 1)
    return;
  __threadfence();
  Sum = 0;
  for (unsigned I = 0; I < Blocks; ++I)
    Sum += Sums[I]; // RACE
  *Total = Sum;
}

int main() {
  unsigned *Data = zeroed<unsigned>(Early * Places);
  unsigned *Sums = zeroed<unsigned>(Blocks), *Done = zeroed<unsigned>(1);
  unsigned *Total = zeroed<unsigned>(1);
  sumUp<<<Blocks, 1>>>(Data, Sums, Done, Total);
  return finish(matches(Total, 1, [](size_t) { return Blocks; }));
}
