// Intent: a grid of 16,384 warps, half as many as metadata mode has numbers for warps,
// reads what the grid before it wrote in another stream. Both have been in turn with
// grids of one warp.
// RACY: two-streams
// FIXED: event -DEVENT
// UNSEEN: collider: only the last blocks race, and the data have been written by then
#include "streams.h"

constexpr unsigned Blocks = 16384, Turns = 4;

__global__ void produce(unsigned *Cell, unsigned Turn) {
  if (blockIdx.x == gridDim.x - 1)
    *Cell = Turn; // RACE
}

__global__ void consume(const unsigned *Cell, unsigned *Out) {
  if (blockIdx.x == gridDim.x - 1)
    *Out = *Cell; // RACE
}

int main() {
  unsigned *Cell = zeroed<unsigned>(1), *Out = zeroed<unsigned>(1);
  cudaStream_t Producer = makeStream(), Consumer = makeStream();
  for (unsigned Turn = 1; Turn <= Turns; ++Turn) {
    // The first launches load the kernels, which may wait for what is running.
    produce<<<1, 1, 0, Producer>>>(Cell, 0);
    consume<<<1, 1, 0, Producer>>>(Cell, Out);
    CHECK(cudaDeviceSynchronize());
    produce<<<Blocks, 1, 0, Producer>>>(Cell, Turn);
#ifdef EVENT
    order(Producer, Consumer);
#endif
    consume<<<Blocks, 1, 0, Consumer>>>(Cell, Out);
    CHECK(cudaDeviceSynchronize());
  }
  return finish(matches(Out, 1, [](size_t) { return Turns; }));
}
