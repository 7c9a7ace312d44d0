// Intent: Table 4, cudaMemsetAsync: a kernel reads the cells that fills on another stream
// still write. In the fixed twin events order them.
#include "agents.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<300, 20> Rounds;

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
#ifdef RACY
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
  for (unsigned Turn = 1; isRunning(Worker); ++Turn)
    CHECK(cudaMemsetAsync(Cells, Turn, N * sizeof(unsigned), Filler)); // RACE
#else
  for (unsigned Turn = 1; Turn <= 6; ++Turn) {
    CHECK(cudaMemsetAsync(Cells, Turn, N * sizeof(unsigned), Filler));
    order(Filler, Worker);
    sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
    order(Worker, Filler);
    Want += Rounds * Turn * 0x01010101;
  }
#endif
  return finish(matches(Sums, N, [&](size_t) { return Want; }));
}
