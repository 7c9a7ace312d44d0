// Intent: two streams launch one kernel in one shape, with other arguments, and nothing
// orders one launch's reads after the other's writes. There are more blocks than run at a
// time, so that most of what is read was written by blocks that have ended.
// RACY: two-streams
// FIXED: event -DEVENT
// FIXED: one-stream -DONE_STREAM
// FIXED: apart -DAPART
// UNSEEN: collider: the blocks that write a word have ended when another reads it
#include "../check.h"
#include "streams.h"

constexpr unsigned Threads = 64;
CONSTANT Scaled<16384, 256> Blocks;

struct Step {
  unsigned Add; // Some arguments are of a struct.
  char Unused;
};

__global__ void move(const unsigned *From, unsigned *To, Step S, bool IsBack) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  const unsigned N = gridDim.x * Threads;
  const unsigned Other = IsBack ? N - 1 - I : I;
  To[I] = From[Other] + S.Add; // RACE
}

int main() {
  const unsigned N = Blocks * Threads;
  unsigned *First = zeroed<unsigned>(N), *Second = zeroed<unsigned>(N);
  unsigned *Third = zeroed<unsigned>(N);
  cudaStream_t Here = makeStream(), There = makeStream();
#ifdef ONE_STREAM
  There = Here;
#endif
  for (unsigned Turn = 0; Turn < 2; ++Turn) {
    move<<<Blocks, Threads, 0, Here>>>(First, Second, {1, 0}, false);
#ifdef EVENT
    order(Here, There);
#endif
#ifdef APART
    move<<<Blocks, Threads, 0, There>>>(First, Third, {2, 0}, false);
#else
    move<<<Blocks, Threads, 0, There>>>(Second, Third, {1, 0}, true);
#endif
#ifdef EVENT
    order(There, Here);
#endif
  }
  CHECK(cudaDeviceSynchronize());
  return finish(matches(Third, N, [](size_t) { return 2u; }));
}
