// Intent: a thread writes data and then a flag, another waits for the flag and
// reads the data; with fences between, without, or of too narrow a scope.
// FIXED: block -DBLOCKS=1 -DFENCE=__threadfence_block
// FIXED: device-in-block -DBLOCKS=1
// FIXED: device
// FIXED: system -DFENCE=__threadfence_system
// RACY: missing -DWRITER_FENCE=nothing
// RACY: block-across-blocks -DWRITER_FENCE=__threadfence_block
// UNSEEN: collider: no value changes while a check looks at it
#include "two-threads.h"

#ifndef FENCE
#define FENCE __threadfence
#endif
#ifndef WRITER_FENCE
#define WRITER_FENCE FENCE
#endif

constexpr unsigned MostRounds = 200;
CONSTANT Scaled<MostRounds, 10> Rounds;

__global__ void pass(unsigned *Data, volatile unsigned *Flags, unsigned *Out) {
  unsigned Side = side();
  if (Side == 0)
    for (unsigned R = 0; R < Rounds; ++R) {
      Data[R] = R + 1; // RACE
      WRITER_FENCE();
      Flags[R] = 1;
    }
  if (Side == 1)
    for (unsigned R = 0; R < Rounds; ++R) {
      while (Flags[R] == 0)
        ;
      FENCE();
      Out[R] = Data[R]; // RACE
    }
}

int main() {
  unsigned *Data = zeroed<unsigned>(MostRounds);
  unsigned *Flags = zeroed<unsigned>(MostRounds);
  unsigned *Out = zeroed<unsigned>(MostRounds);
  pass<<<BLOCKS, ThreadsPerBlock>>>(Data, Flags, Out);
  return finish(matches(Out, Rounds, [](size_t R) { return R + 1; }));
}
