// Intent: shadow that may take 64 MiB tracks an allocation of 256 MiB by a cache.
// OPTIONS: shadow_limit=64
// EXPECT: CRSan: metadata mode: no room for exact shadow of everything: \d+ MiB of the program's memory are tracked exactly, \d+ MiB by a cache
#include "../Device/check.h"

constexpr unsigned Threads = 128, Blocks = 16, N = Threads * Blocks;
constexpr size_t Words = size_t(256) << 18;

/// Of each of 64 pieces of the memory, thread I has word I.
__global__ void count(unsigned *Memory) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
#ifdef RACY
  I = I % (N / 2);
#endif
  for (size_t At = I; At < Words; At += Words / 64)
    Memory[At] += 1; // RACE
}

int main() {
  unsigned *Memory;
  CHECK(cudaMalloc(&Memory, Words * sizeof(unsigned)));
  for (size_t At = 0; At < Words; At += Words / 64)
    CHECK(cudaMemset(Memory + At, 0, N * sizeof(unsigned)));
  count<<<Blocks, Threads>>>(Memory);
  count<<<Blocks, Threads>>>(Memory);
  bool Right = true;
  for (size_t At = 0; At < Words; At += Words / 64)
    Right &= matches(Memory + At, N, [](size_t) { return 2u; });
  return finish(Right);
}
