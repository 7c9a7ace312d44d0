// Intent: block-scope atomics order plain data among the warps of a block; that
// is not racy.
// CLEAN-ONLY
#include "../check.h"
#include <cuda/atomic>

constexpr unsigned Warps = 4, Blocks = 16, Rounds = 20;

__global__ void relay(unsigned *Turns, unsigned *Batons, unsigned *Counts) {
  unsigned Warp = threadIdx.x / 32;
  if (threadIdx.x % 32 != 0)
    return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> Turn(Turns[blockIdx.x]);
  for (unsigned R = 0; R < Rounds; ++R) {
    atomicAdd_block(&Counts[blockIdx.x], 1);
    while (Turn.load(cuda::memory_order_acquire) != R * Warps + Warp)
      ;
    Batons[blockIdx.x] = 3 * Batons[blockIdx.x] + Warp;
    Turn.store(R * Warps + Warp + 1, cuda::memory_order_release);
  }
}

int main() {
  unsigned *Turns = zeroed<unsigned>(Blocks), *Counts = zeroed<unsigned>(Blocks);
  unsigned *Batons = zeroed<unsigned>(Blocks), Want = 0;
  relay<<<Blocks, Warps * 32>>>(Turns, Batons, Counts);
  for (unsigned Step = 0; Step < Rounds * Warps; ++Step)
    Want = 3 * Want + Step % Warps;
  return finish(
      matches(Batons, Blocks, [&](size_t) { return Want; }) &&
      matches(Counts, Blocks, [](size_t) { return Rounds * Warps; }));
}
