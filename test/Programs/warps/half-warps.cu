// Intent: barriers of some lanes of a warp order those lanes, and whoever meets one of
// them later, but not the lanes of two such barriers.
// FIXED: relayed
// FIXED: whole -DHALVES -DWHOLE
// RACY: halves -DHALVES
// RACY: without-relay -DWITHOUT_RELAY
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;

/// Whose word a lane reads.
__host__ __device__ unsigned partner(unsigned Lane) {
#ifdef HALVES
  return (Lane + 16) % 32;
#elif defined(WITHOUT_RELAY)
  if (Lane == 1)
    return 20;
#else
  if (Lane == 0)
    return 20;
#endif
  return Lane / 16 * 16 + (Lane + 1) % 16;
}

__global__ void exchange(unsigned *Words, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Lane = threadIdx.x % 32;
  Words[I] = Lane; // RACE: halves without-relay
  if (Lane < 16)
    __syncwarp(0x0000ffff);
  else
    __syncwarp(0xffff0000);
  // What the first lane of the upper half has learnt, that of the lower does.
  if (Lane % 16 == 0)
    __syncwarp(0x00010001);
#ifdef WHOLE
  __syncwarp();
#endif
  Out[I] = Words[I - Lane + partner(Lane)]; // RACE: halves without-relay
}

int main() {
  unsigned *Words = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Words, Out);
  return finish(matches(Out, N, [](size_t I) { return partner(I % 32); }));
}
