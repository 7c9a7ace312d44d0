// Intent: a counter that others update atomically is reset by a plain store.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 50;

__global__ void count(unsigned *Counter, unsigned *Taken) {
  for (unsigned R = 0; R < Rounds; ++R) {
    if (threadIdx.x == 0) {
#ifdef RACY
      *Counter = 0; // RACE
      atomicAdd(Taken, 1);
#else
      atomicAdd(Taken, atomicExch(Counter, 0));
#endif
    } else if (threadIdx.x % 32 == 0) {
      atomicAdd(Counter, 1); // RACE
    }
    __syncthreads();
  }
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1), *Taken = zeroed<unsigned>(1);
  count<<<Blocks, Threads>>>(Counter, Taken);
  unsigned Total = download(Counter, 1)[0] + download(Taken, 1)[0];
  return finish(Total == Rounds * Blocks * (Threads / 32 - 1));
}
