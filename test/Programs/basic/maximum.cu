// Intent: a maximum is kept by a plain comparison and a plain store.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 64;

__global__ void maximum(unsigned *Best) {
  unsigned Value = blockIdx.x * Threads + threadIdx.x + 1;
#ifdef RACY
  if (*Best < Value) // RACE
    *Best = Value;   // RACE
#else
  atomicMax(Best, Value);
#endif
}

int main() {
  unsigned *Best = zeroed<unsigned>(1);
  maximum<<<Blocks, Threads>>>(Best);
  return finish(matches(Best, 1, [](size_t) { return Threads * Blocks; }));
}
