// A cooperative launch: blocks exchange values behind grid barriers.
#include "common.h"
#include <cooperative_groups.h>
constexpr unsigned Blocks = 8, Turns = 30;
__global__ void use(unsigned *Cells, unsigned *Out) {
  auto Grid = cooperative_groups::this_grid();
  unsigned Me = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  for (unsigned R = 1; R <= Turns; ++R) {
    Cells[Me] = R + Me; // RACE
#ifndef RACY
    Grid.sync();
#endif
    Sum += Cells[(Me + Threads) % (Blocks * Threads)]; // RACE
    Grid.sync();
  }
  Out[Me] = Sum;
}
int main() {
  unsigned *Cells, *Out;
  CHECK(cudaMalloc(&Cells, 4 * Blocks * Threads));
  CHECK(cudaMalloc(&Out, 4 * Blocks * Threads));
  int PerSM;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&PerSM, use, Threads, 0));
  void *Arguments[] = {&Cells, &Out};
  CHECK(cudaLaunchCooperativeKernel((void *)use, dim3(Blocks), dim3(Threads), Arguments, 0, 0));
  std::vector<unsigned> Host(Blocks * Threads);
  CHECK(cudaMemcpy(Host.data(), Out, 4 * Host.size(), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Host.size(); ++I)
    expect(Host[I], Turns * (Turns + 1) / 2 + Turns * ((I + Threads) % (Blocks * Threads)), "out");
  return finish();
}
