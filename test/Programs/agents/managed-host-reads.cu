// Intent: Table 3, CPU-GPU UVM RW: the CPU reads managed memory before the kernel that
// writes it has ended. The fixed twin waits for the kernel.
// Others: iGUARD, Compute Sanitizer and SuperCollider do not find it.
// BUILD: -fsanitize-cuda-race-host
#include "agents.h"

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<300, 40> Rounds;

__global__ void fill(unsigned *Cells, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[I] = R + I; // RACE
    __syncthreads();
  }
}

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  unsigned *Cells = shared<unsigned>(N), Sum = 0;
  fill<<<Blocks, Threads>>>(Cells, Rounds);
#ifndef RACY
  CHECK(cudaDeviceSynchronize());
#endif
  for (unsigned I = 0; I < N; ++I)
    Sum += Cells[I]; // RACE
  return finish(Sum == N * Rounds + N * (N - 1) / 2);
}
