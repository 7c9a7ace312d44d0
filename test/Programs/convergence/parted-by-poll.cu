// Intent: one lane polls for another of its warp in a branch, which parts the warp; then the
// parts call checks, each on its own, and meet at barriers that are not aligned.
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 40, Cells = 246, Rows = 2, Tries = 200;
CONSTANT Scaled<132, 2> Blocks;
CONSTANT Scaled<20, 2> Launches;

__global__ void parted(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Part[Cells], Given[4], Flag;
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  for (unsigned I = T; I < 4; I += Threads)
    Given[I] = In[I];
  if (T == 0)
    Flag = 0;
  for (unsigned I = T; I < Cells; I += Threads)
    Part[I] = In[I];
  asm volatile("barrier.sync 0;" ::: "memory");
  if (T == 5) {
    Given[1] = In[T] + 1;
    __nv_atomic_store_n(&Flag, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
  } else if (T == 17) {
    unsigned Seen = 0;
    for (unsigned Try = 0; Try < Tries && Seen == 0; ++Try) {
      unsigned Now = __nv_atomic_load_n(&Flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
      if (Now != 0)
        Seen = 1;
      if (Seen == 0)
        __nanosleep(20);
    }
    if (Seen != 0)
      Sum += Given[1] - Given[1] % 2; // One value, or nothing at all.
  }
  asm volatile("barrier.sync 1;" ::: "memory");
  if (blockDim.x > 1) {
    for (unsigned I = 0; I < 4; ++I)
      Sum += In[(T * 13 + I) % Cells] * 2;
    asm volatile("barrier.sync 0;" ::: "memory");
  }
#pragma unroll 1
  for (unsigned Row = 0; Row < Rows; ++Row) {
    for (unsigned I = T; I < Cells; I += Threads) {
      unsigned Cell = 0;
      for (unsigned P = I; P < 165; P += 141)
        Cell += In[P + Row] % 8;
      Part[I] = Cell; // RACE
    }
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
    Sum += Part[0] * 2;
    cg::this_thread_block().sync();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In(Cells + Rows);
  for (unsigned I = 0; I < In.size(); ++I)
    In[I] = I * 7 % 31;
  unsigned *Device = upload(In), *Out = zeroed<unsigned>(Blocks * Threads);
  bool Right = true;
  for (unsigned L = 0; L < Launches; ++L) {
    parted<<<Blocks, Threads>>>(Out, Device);
    std::vector<unsigned> Got(Blocks * Threads);
    CHECK(cudaMemcpy(Got.data(), Out, Got.size() * sizeof(unsigned), cudaMemcpyDefault));
    for (unsigned I = 0; I < Got.size(); ++I) {
      const unsigned T = I % Threads, Given = (In[5] + 1) / 2 * 2;
      unsigned Sum = 0;
      for (unsigned K = 0; K < 4; ++K)
        Sum += In[(T * 13 + K) % Cells] * 2;
      for (unsigned Row = 0; Row < Rows; ++Row)
        for (unsigned K = 0; K < Cells; ++K)
          for (unsigned P = K; P < 165; P += 141)
            Sum += In[P + Row] % 8 * 2;
      Right &= Got[I] == Sum || (T == 17 && Got[I] == Sum + Given);
    }
  }
  return finish(Right);
}
