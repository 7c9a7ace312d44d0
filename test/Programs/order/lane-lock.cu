// Intent: all lanes of a warp compete for one lock; the plain data that it
// guards is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 64;
CONSTANT Scaled<8, 2> Blocks;

__global__ void count(unsigned *Lock, unsigned *Count) {
  for (bool Done = false; !Done;) {
    if (atomicCAS(Lock, 0, 1) == 0) {
      __threadfence();
      *Count += threadIdx.x;
      __threadfence();
      atomicExch(Lock, 0);
      Done = true;
    }
  }
}

int main() {
  unsigned *Lock = zeroed<unsigned>(1), *Count = zeroed<unsigned>(1);
  count<<<Blocks, Threads>>>(Lock, Count);
  return finish(matches(Count, 1, [](size_t) {
    return Blocks * (Threads * (Threads - 1) / 2);
  }));
}
