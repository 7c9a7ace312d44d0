// Intent: a counter that others update atomically is read plainly.
#include "../check.h"
#include <cuda/atomic>

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 16, Limit = 1000;

__device__ unsigned current(unsigned *Counter) {
#ifdef RACY
  return *Counter; // RACE
#else
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> Atomic(*Counter);
  return Atomic.load(cuda::memory_order_relaxed);
#endif
}

__global__ void count(unsigned *Counter) {
  for (unsigned R = 0; R < Rounds; ++R)
    if (threadIdx.x % 32 == 0 && current(Counter) < Limit)
      atomicAdd(Counter, 1); // RACE
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1);
  count<<<Blocks, Threads>>>(Counter);
  unsigned End = download(Counter, 1)[0];
  return finish(End >= Limit && End < Limit + Threads / 32 * Blocks);
}
