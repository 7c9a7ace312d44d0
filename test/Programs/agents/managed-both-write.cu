// Intent: Table 3, CPU-GPU UVM WW: the CPU and a kernel store to the same managed memory.
// The fixed twin's CPU waits for the kernel.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// BUILD: -fsanitize-cuda-race-host
#include "agents.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000, 40> Rounds;

__global__ void fill(unsigned *Cells, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[I] = R; // RACE
    __syncthreads();
  }
}

static void update(unsigned *Cells, unsigned Turn) {
  for (unsigned I = 0; I < N; ++I)
    Cells[I] = 100000 + Turn + I; // RACE
}

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  unsigned *Cells = shared<unsigned>(N);
  cudaStream_t Worker = makeStream();
  fill<<<Blocks, Threads, 0, Worker>>>(Cells, 0); // Loads the kernel.
  CHECK(cudaDeviceSynchronize());
  fill<<<Blocks, Threads, 0, Worker>>>(Cells, Rounds);
#ifdef RACY
  for (unsigned Turn = 1; isRunning(Worker); ++Turn)
    update(Cells, Turn);
#else
  CHECK(cudaStreamSynchronize(Worker));
  update(Cells, 1);
#endif
  bool Right = true;
  for (unsigned I = 0; I < N; ++I)
    Right &= Cells[I] == 100001 + I;
  return finish(Right);
}
