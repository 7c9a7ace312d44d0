// Intent: structures that move through shared memory: LLVM makes one copy of the two, from place to place, whose read
// has no mark as one of the source.
// RACY: words -DWORDS=6
// FIXED: words-fixed -DWORDS=6
// RACY: bytes -DBYTES=19
// FIXED: bytes-fixed -DBYTES=19
#include "../check.h"

constexpr unsigned Threads = 64, Rounds = 200;

struct Item {
#ifdef WORDS
  unsigned Values[WORDS];
#else
  unsigned char Values[BYTES];
#endif
};

__device__ unsigned numberOf(const Item &I) { return I.Values[0]; }

__global__ void reverse(unsigned *Results) {
  __shared__ Item Items[Threads];
  const unsigned T = threadIdx.x;
  for (auto &Value : Items[T].Values)
    Value = T;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    Item Mine = Items[Threads - 1 - T]; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Items[T] = Mine; // RACE
    __syncthreads();
  }
  Results[T] = numberOf(Items[T]);
}

int main() {
  unsigned *Results = zeroed<unsigned>(Threads);
  reverse<<<1, Threads>>>(Results);
  CHECK(cudaDeviceSynchronize());
  return finish(matches(Results, Threads, [](size_t I) { return unsigned(I); }));
}
