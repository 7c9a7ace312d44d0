// Intent: shadow that may take 64 MiB tracks an allocation of 256 MiB by a cache.
// OPTIONS: shadow_limit=64
// EXPECT: CRSan: metadata mode: no room on device 0 for exact shadow of all memory of the program: at most [1-9]\d* MiB were tracked exactly, [1-9]\d* MiB by a cache, which may miss races, and 0 MiB not at all
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8, N = Threads * Blocks, Pieces = 16;
constexpr size_t Words = size_t(256) << 18;

/// Thread I has word I of each piece.
__global__ void count(unsigned *Memory) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
#ifdef RACY
  I = I % (N / 2);
#endif
  for (size_t At = I; At < Words; At += Words / Pieces)
    Memory[At] += 1; // RACE
}

int main() {
  unsigned *Memory;
  CHECK(cudaMalloc(&Memory, Words * sizeof(unsigned)));
  for (size_t At = 0; At < Words; At += Words / Pieces)
    CHECK(cudaMemset(Memory + At, 0, N * sizeof(unsigned)));
  count<<<Blocks, Threads>>>(Memory);
  count<<<Blocks, Threads>>>(Memory);
  bool Right = true;
  for (size_t At = 0; At < Words; At += Words / Pieces)
    Right &= matches(Memory + At, N, [](size_t) { return 2u; });
  return finish(Right);
}
