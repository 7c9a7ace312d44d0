// Intent: one thread takes a lock for its block and another one gives it back. The
// racy twin has no barrier between the block's work and that.
#include "../check.h"
#include "../orders.h"

constexpr unsigned Threads = 64, Blocks = 3, Rounds = 4;

__global__ void add(unsigned *Lock, unsigned *Sums) {
  unsigned T = threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    if (T == 0)
      while (SWAP(acquire, Lock, 0, 1) != 0)
        ;
    __syncthreads();
    Sums[T] += T + blockIdx.x; // RACE
#ifndef RACY
    __syncthreads();
#endif
    if (T == Threads - 1)
      STORE(release, Lock, 0);
  }
}

int main() {
  unsigned *Lock = zeroed<unsigned>(1), *Sums = zeroed<unsigned>(Threads);
  add<<<Blocks, Threads>>>(Lock, Sums);
  return finish(matches(Sums, Threads, [](size_t T) {
    return unsigned(Rounds * (Blocks * T + Blocks * (Blocks - 1) / 2));
  }));
}
