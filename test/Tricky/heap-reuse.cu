// Intent: each thread allocates, fills, reads and frees memory of the in-kernel heap, so
// that all get what others have had. The racy twin's threads share one allocation a warp.
// UNSEEN: on hardware, memory of the in-kernel heap has no shadow
#include "../Device/check.h"

constexpr unsigned Threads = 32, Blocks = 3, Rounds = 3;

struct Pair {
  unsigned First, Second;
};

__global__ void work(unsigned *Sum) {
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef RACY
    auto *P = threadIdx.x ? nullptr : new Pair;
    uint64_t Address = __shfl_sync(~0u, (unsigned long long)P, 0);
    P = reinterpret_cast<Pair *>(Address);
#else
    auto *P = new Pair;
#endif
    volatile unsigned Value = threadIdx.x + R;
    P->First = Value;      // RACE
    P->Second = 2 * Value; // RACE
    atomicAdd(Sum, P->First + P->Second); // RACE
    __syncwarp();
#ifdef RACY
    if (threadIdx.x == 0)
#endif
      delete P;
  }
}

int main() {
  unsigned *Sum = zeroed<unsigned>(1);
  work<<<Blocks, Threads>>>(Sum);
  return finish(matches(Sum, 1, [](size_t) {
    return Blocks * 3 *
           (Rounds * Threads * (Threads - 1) / 2 + Threads * Rounds * (Rounds - 1) / 2);
  }));
}
