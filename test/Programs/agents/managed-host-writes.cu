// Intent: Table 3, CPU-GPU UVM RW: the CPU updates managed memory while a kernel reads it.
// The fixed twin's kernel is launched when the CPU has done so.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// BUILD: -fsanitize-cuda-race-host
#include "agents.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000, 40> Rounds;

__global__ void sum(const unsigned *Cells, unsigned *Sums, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Sums[I] += Cells[I]; // RACE
    __syncthreads();
  }
}

static void update(unsigned *Cells, unsigned Turn) {
  for (unsigned I = 0; I < N; ++I)
    Cells[I] = Turn * N + I; // RACE
}

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  unsigned *Cells = shared<unsigned>(N), *Sums = zeroed<unsigned>(N);
  cudaStream_t Worker = makeStream();
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, 0); // Loads the kernel.
  CHECK(cudaDeviceSynchronize());
#ifdef RACY
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
  for (unsigned Turn = 1; isRunning(Worker); ++Turn)
    update(Cells, Turn);
#else
  update(Cells, 1);
  sum<<<Blocks, Threads, 0, Worker>>>(Cells, Sums, Rounds);
#endif
  return finish(matches(Sums, N, [](size_t I) { return unsigned(Rounds * (N + I)); }));
}
