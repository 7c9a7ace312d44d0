// Intent: the host and a kernel write one word.
// BUILD: -fsanitize-cuda-race-host
// FIXED: in-turn
// FIXED: neighbours -DNEIGHBOURS
// RACY: managed -DTOGETHER
// RACY: pinned -DTOGETHER -DPINNED
#include "agents.h"

CONSTANT Scaled<50, 4> Rounds;
constexpr unsigned Threads = 32, Writes = 32;

__global__ void count(unsigned *Cells, unsigned First) {
  for (unsigned W = 1; W <= Writes; ++W)
    Cells[2 * threadIdx.x] = First + W; // RACE
}

int main() {
  unsigned *Cells = shared<unsigned>(2 * Threads);
  bool Right = true;
  for (unsigned R = 0; R < Rounds; ++R) {
    count<<<1, Threads>>>(Cells, R * Writes);
#if !defined(TOGETHER) && !defined(NEIGHBOURS)
    CHECK(cudaDeviceSynchronize());
#endif
    for (unsigned I = 0; I < Threads; ++I) {
#ifdef NEIGHBOURS
      Cells[2 * I + 1] = R; // Between the kernel's words.
#else
      Cells[2 * I] = ~R; // RACE
#endif
    }
    CHECK(cudaDeviceSynchronize());
#ifdef NEIGHBOURS
    for (unsigned I = 0; I < Threads; ++I)
      Right &= Cells[2 * I] == (R + 1) * Writes && Cells[2 * I + 1] == R;
#else
    Right &= Cells[0] == ~R;
#endif
  }
  return finish(Right);
}
