// Intent: Table 3, inter-kernel GMEM RW: a kernel reads what a kernel on another stream
// writes. In the fixed twin an event orders the two.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
#include "../streams/streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<300, 20> Rounds;

__global__ void produce(unsigned *Cells, unsigned First, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = First + R + I; // RACE
    __syncthreads();
  }
}

__global__ void consume(const unsigned *Cells, unsigned *Out, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Out[I] += Cells[N - 1 - I]; // RACE
    __syncthreads();
  }
}

int main() {
  constexpr unsigned Turns = 3;
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N), Want = 0;
  cudaStream_t Producer = makeStream(), Consumer = makeStream();
  // A first launch loads the kernel, which may wait for what is running.
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, 0, 0);
  consume<<<Blocks, Threads, 0, Producer>>>(Cells, Out, 0);
  CHECK(cudaDeviceSynchronize());
  for (unsigned Turn = 0; Turn < Turns; ++Turn) {
    produce<<<Blocks, Threads, 0, Producer>>>(Cells, Turn * Rounds, Rounds);
#ifndef RACY
    order(Producer, Consumer);
#endif
    consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
#ifndef RACY
    order(Consumer, Producer);
#endif
    Want += Rounds * (Turn * Rounds + Rounds - 1);
  }
  return finish(matches(
      Out, N, [&](size_t I) { return unsigned(Want + Turns * Rounds * (N - 1 - I)); }));
}
