// Intent: two threads count in the same places, with atomics of several scopes or
// with plain accesses.
// FIXED: block -DBLOCKS=1 -DLEFT=addInBlock -DRIGHT=addInBlock
// FIXED: mixed-in-block -DBLOCKS=1 -DRIGHT=addInBlock
// FIXED: device-in-block -DBLOCKS=1
// FIXED: device
// FIXED: volatile-load -DRIGHT=loadVolatile
// RACY: block-across-blocks -DLEFT=addInBlock -DRIGHT=addInBlock
// RACY: mixed-across-blocks -DRIGHT=addInBlock
// RACY: plain-load -DRIGHT=load
// RACY: plain-store -DRIGHT=store
// UNSEEN: collider (block-across-blocks mixed-across-blocks): no value changes while a check looks at it
#include "two-threads.h"

#ifndef LEFT
#define LEFT add
#endif
#ifndef RIGHT
#define RIGHT add
#endif

constexpr unsigned MostRounds = 200;
CONSTANT Scaled<MostRounds, 20> Rounds;

// Each says how much it has added.
__device__ unsigned add(unsigned *Count) {
  atomicAdd(Count, 1); // RACE: mixed-across-blocks plain-load plain-store
  return 1;
}

__device__ unsigned addInBlock(unsigned *Count) {
  atomicAdd_block(Count, 1); // RACE: block-across-blocks mixed-across-blocks
  return 1;
}

__device__ unsigned load(unsigned *Count) {
  return *Count > 1; // RACE: plain-load
}

__device__ unsigned loadVolatile(unsigned *Count) {
  return *(volatile unsigned *)Count > 1;
}

__device__ unsigned store(unsigned *Count) {
  *Count = 1; // RACE: plain-store
  return 1;
}

__global__ void count(Meeting *Meet, unsigned *Counts, unsigned *Added) {
  unsigned Side = side();
  if (Side == Sides)
    return;
  Meet->wait();
  for (unsigned R = 0; R < Rounds; ++R)
    Added[Side * Rounds + R] =
        Side == 0 ? LEFT(&Counts[R]) : RIGHT(&Counts[R]);
}

int main() {
  unsigned *Counts = zeroed<unsigned>(MostRounds);
  unsigned *Added = zeroed<unsigned>(Sides * MostRounds);
  count<<<BLOCKS, ThreadsPerBlock>>>(zeroed<Meeting>(1), Counts, Added);
  std::vector<unsigned> Sum = download(Added, Sides * Rounds);
  return finish(matches(
      Counts, Rounds, [&](size_t R) { return Sum[R] + Sum[Rounds + R]; }));
}
