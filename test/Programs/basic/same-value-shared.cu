// Intent: one warp resets shared cells to what they hold while others read them.
// The same offset of other blocks is other memory.
#include "../check.h"

constexpr unsigned Threads = 128, Rounds = 50;
CONSTANT Scaled<128, 16> Blocks;

__global__ void reset(unsigned *Out) {
  __shared__ unsigned Cells[8];
  unsigned Sum = 0;
  if (threadIdx.x < 8)
    Cells[threadIdx.x] = blockIdx.x;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef RACY
    if (threadIdx.x == 32)
      Cells[R % 8] = blockIdx.x; // RACE
    Sum += Cells[R % 8]; // RACE
#else
    if (threadIdx.x == 32)
      Cells[R % 8] = blockIdx.x;
    __syncthreads();
    Sum += Cells[R % 8];
    __syncthreads();
#endif
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  reset<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * Threads,
                        [](size_t I) -> unsigned { return I / Threads * Rounds; }));
}
