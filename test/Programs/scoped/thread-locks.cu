// Intent: all threads of a warp add to the same data; a lock for each thread is
// none, a lock for the data is one.
// FIXED: lock-a-warp
// RACY: lock-a-thread -DLOCK_ID=Thread
#include "../check.h"
#include "atomics.h"

#ifndef LOCK_ID
#define LOCK_ID Warp
#endif

constexpr unsigned Threads = 64;
CONSTANT Scaled<64, 2> Blocks;

__global__ void add(unsigned *Locks, unsigned *Data, const unsigned *Values) {
  unsigned Thread = blockIdx.x * Threads + threadIdx.x, Warp = Thread / 32;
  for (bool Done = false; !Done;) {
    if (atomicCAS(&Locks[LOCK_ID], 0, 1) == 0) {
      __threadfence();
      Data[Warp] += Values[Thread]; // RACE
      __threadfence();
      atomicExch(&Locks[LOCK_ID], 0);
      Done = true;
    }
  }
}

int main() {
  unsigned N = Blocks * Threads;
  unsigned *Data = zeroed<unsigned>(N / 32);
  add<<<Blocks, Threads>>>(zeroed<unsigned>(N), Data,
                           upload(std::vector<unsigned>(N, 5)));
  return finish(matches(Data, N / 32, [](size_t) { return 32 * 5u; }));
}
