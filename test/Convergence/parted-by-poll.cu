// Intent: one lane polls for another of its warp in a branch, which parts the warp; then the
// parts call checks, each on its own, and meet at barriers that are not aligned.
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../Device/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 40, Cells = 246, Rows = 2;
constexpr Scaled<132, 2> Blocks;
constexpr Scaled<20, 2> Rounds;

__global__ void parted(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Part[Cells], Given, Flag;
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    if (T == 0)
      Flag = 0;
    asm volatile("barrier.sync 0;" ::: "memory");
    if (T == 5) {
      Given = In[Round] + 1;
      __nv_atomic_store_n(&Flag, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    } else if (T == 17) {
      while (__nv_atomic_load_n(&Flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0)
        __nanosleep(20);
      Sum += Given;
    }
    asm volatile("barrier.sync 1;" ::: "memory");
    for (unsigned I = 0; I < 4; ++I)
      Sum += In[(T * 13 + I) % Cells];
#pragma unroll 1
    for (unsigned Row = 0; Row < Rows; ++Row) {
      for (unsigned I = T; I < Cells; I += Threads)
        Part[I] = In[I + Row] % 8; // RACE
#pragma unroll 1
      for (unsigned N = Cells; N > 1; N = (N + 1) / 2) {
#ifndef RACY
        cg::sync(cg::this_thread_block());
#endif
        const unsigned Half = (N + 1) / 2;
        for (unsigned I = T; I < N - Half; I += Threads)
          Part[I] += Part[I + Half]; // RACE
      }
      asm volatile("barrier.sync 1;" ::: "memory");
      Sum += Part[0];
      cg::this_thread_block().sync();
    }
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In(Cells + Rows);
  for (unsigned I = 0; I < In.size(); ++I)
    In[I] = I * 7 % 31;
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  parted<<<Blocks, Threads>>>(Out, upload(In));
  return finish(matches(Out, Blocks * Threads, [&](size_t I) {
    const unsigned T = I % Threads;
    unsigned Sum = 0;
    for (unsigned Round = 0; Round < Rounds; ++Round) {
      Sum += T == 17 ? In[Round] + 1 : 0;
      for (unsigned K = 0; K < 4; ++K)
        Sum += In[(T * 13 + K) % Cells];
      for (unsigned Row = 0; Row < Rows; ++Row)
        for (unsigned K = 0; K < Cells; ++K)
          Sum += In[K + Row] % 8;
    }
    return Sum;
  }));
}
