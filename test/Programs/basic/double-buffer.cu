// Intent: a double buffer saves a barrier too many: one every other step.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8;
CONSTANT Scaled<100, 20> Steps;

__global__ void iterate(unsigned *Out) {
  __shared__ unsigned Buffers[2][Threads];
  unsigned T = threadIdx.x;
  Buffers[0][T] = T;
  __syncthreads();
  for (unsigned S = 0; S < Steps; ++S) {
    unsigned Left = Buffers[S % 2][(T + Threads - 1) % Threads]; // RACE
    Buffers[1 - S % 2][T] = 3 * Left + S;                        // RACE
#ifdef RACY
    if (S % 2)
#endif
      __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Buffers[Steps % 2][T];
}

int main() {
  std::vector<unsigned> Want(Threads);
  for (unsigned I = 0; I < Threads; ++I)
    Want[I] = I;
  for (unsigned S = 0; S < Steps; ++S) {
    std::vector<unsigned> Old = Want;
    for (unsigned I = 0; I < Threads; ++I)
      Want[I] = 3 * Old[(I + Threads - 1) % Threads] + S;
  }
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  iterate<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks,
                        [&](size_t I) { return Want[I % Threads]; }));
}
