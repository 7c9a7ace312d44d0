// Intent: the host writes what a kernel reads, behind the launch of the kernel.
// BUILD: -fsanitize-cuda-race-host
// FIXED: before
// FIXED: before-pinned -DPINNED
// RACY: managed -DBEHIND
// RACY: pinned -DBEHIND -DPINNED
// RACY: mapped -DBEHIND -DMAPPED
#include "agents.h"

CONSTANT Scaled<50, 4> Rounds;
constexpr unsigned Threads = 64, Reads = 64;

__global__ void add(const unsigned *Cells, unsigned *Out) {
  unsigned Sum = 0;
  for (unsigned R = 0; R < Reads; ++R)
    Sum += Cells[(threadIdx.x + R) % Threads]; // RACE
  Out[threadIdx.x] = Sum;
}

int main() {
  unsigned *Cells = shared<unsigned>(Threads), *Out = zeroed<unsigned>(Threads);
  bool Right = true;
  for (unsigned R = 1; R <= Rounds; ++R) {
#ifdef BEHIND
    add<<<1, Threads>>>(Cells, Out);
#endif
    for (unsigned I = 0; I < Threads; ++I)
      Cells[I] = R; // RACE
#ifndef BEHIND
    add<<<1, Threads>>>(Cells, Out);
#endif
    CHECK(cudaDeviceSynchronize());
    Right &= matches(Out, Threads, [=](size_t) { return R * Reads; });
  }
  return finish(Right);
}
