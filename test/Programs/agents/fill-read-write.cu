// Intent: Table 4, cudaMemsetAsync: a kernel reads the cells that fills on another stream
// still write. In the fixed twin events order them.
// UNSEEN: metadata: fills by streams are not followed
#include "../streams/streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks, Turns = 6;
constexpr Scaled<300, 20> Rounds;

__global__ void sum(const unsigned *Cells, unsigned *Sums, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Sums[I] += Cells[I]; // RACE
    __syncthreads();
  }
}

int main() {
  cudaStream_t Filler = makeStream(), Worker = makeStream();
  unsigned *Cells = zeroed<unsigned>(N), *Sums = zeroed<unsigned>(N), Want = 0;
  // A first launch loads the kernel, which may wait for what is running.
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, 0);
  CHECK(cudaDeviceSynchronize());
  for (unsigned Turn = 1; Turn <= Turns; ++Turn) {
    CHECK(cudaMemsetAsync(Cells, Turn, N * sizeof(unsigned), Filler));
#ifndef RACY
    order(Filler, Worker);
#endif
    sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
#ifndef RACY
    order(Worker, Filler);
#endif
    Want += Rounds * Turn * 0x01010101;
  }
  return finish(matches(Sums, N, [&](size_t) { return Want; }));
}
