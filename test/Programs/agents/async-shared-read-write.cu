// Intent: Table 3, cp.async SMEM RW: a thread reads what another one copies with cp.async.
// The racy twins lack the wait for the copy, or the barrier behind it.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// FIXED: assembly
// FIXED: group -DGROUP
// RACY: no-wait -DNO_WAIT
// RACY: no-barrier -DNO_BARRIER
// RACY: no-wait-group -DGROUP -DNO_WAIT
// ARCH: sm_80
#include "asynchronous.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

constexpr unsigned Warp = 32, Threads = 2 * Warp, Blocks = 4;
CONSTANT Scaled<200, 12> Rounds;

__global__ void sum(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Rows[Threads];
  const unsigned T = threadIdx.x;
  [[maybe_unused]] const auto Block = cg::this_thread_block();
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    const unsigned *From = In + R * Threads;
#ifdef GROUP
    cg::memcpy_async(Block, Rows, From, sizeof Rows); // RACE: no-wait-group
#ifndef NO_WAIT
    cg::wait(Block); // And a barrier.
#else
    Block.sync();
#endif
#else
    COPY4(&Rows[T], &From[T]); // RACE: no-wait no-barrier
    commitCopies();
#ifndef NO_WAIT
    awaitCopies();
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
#endif
    Sum += Rows[(T + Warp) % Threads]; // RACE
    awaitCopies();
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Rounds * Threads; ++I)
    In.push_back(I + 1);
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  sum<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned From = (I + Warp) % Threads;
    return Rounds * (Rounds - 1) / 2 * Threads + Rounds * (From + 1);
  }));
}
