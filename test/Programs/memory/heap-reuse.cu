// Intent: each thread allocates, fills, reads and frees memory of the in-kernel heap, so
// that all get what others have had, on other multiprocessors as well. The racy twin's
// threads share one allocation a warp.
// UNSEEN: metadata: on hardware, memory of the in-kernel heap has no shadow
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, Rounds = 4;

struct Pair {
  unsigned First, Second;
};

__device__ __noinline__ void fill(Pair *P, unsigned Value) {
  P->First = Value;      // RACE
  P->Second = Value + 1; // RACE
}

__device__ __noinline__ unsigned difference(Pair *P) {
  return P->Second - P->First; // RACE
}

__global__ void work(unsigned *Sum) {
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef RACY
    auto *P = threadIdx.x % 32 ? nullptr : new Pair;
    uint64_t Address = __shfl_sync(~0u, (unsigned long long)P, 0);
    P = reinterpret_cast<Pair *>(Address);
#else
    auto *P = new Pair;
#endif
    fill(P, threadIdx.x + R);
    atomicAdd(Sum, difference(P));
#ifdef RACY
    __syncwarp();
    if (threadIdx.x % 32 == 0)
#endif
      delete P;
  }
}

int main() {
  unsigned *Sum = zeroed<unsigned>(1);
  work<<<Blocks, Threads>>>(Sum);
  return finish(matches(Sum, 1, [](size_t) { return Blocks * Threads * Rounds; }));
}
