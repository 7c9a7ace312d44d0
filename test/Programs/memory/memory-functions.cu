// Intent: memset and memcpy of a length known only at run time, with no barrier
// between them.
// LINELESS: of a length known only at run time, LLVM makes loops without lines
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 50, Pitch = 24;

__global__ void exchange(unsigned Length, unsigned *Out) {
  __shared__ unsigned char Rows[Threads * Pitch];
  unsigned char Copy[Pitch];
  unsigned T = threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    memset(Rows + T * Pitch, R, Length); // RACE
#ifndef RACY
    __syncthreads();
#endif
    memcpy(Copy, Rows + (T + 32) % Threads * Pitch, Length); // RACE
    Sum += Copy[0] + Copy[(R + T) % Length];
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(21, Out);
  return finish(matches(Out, Threads * Blocks,
                        [](size_t) { return Rounds * (Rounds + 1); }));
}
