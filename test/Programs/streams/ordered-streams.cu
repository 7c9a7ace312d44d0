// Intent: kernels that write one array in turns, on two streams ordered by
// events: what one has watched is of no meaning to the next.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 64, Threads = 128;
CONSTANT Scaled<40, 10> Turns;

__global__ void step(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[Blocks * Threads - 1 - I] += 1;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Blocks * Threads);
  cudaStream_t Streams[2];
  cudaEvent_t Done;
  CHECK(cudaEventCreateWithFlags(&Done, cudaEventDisableTiming));
  for (cudaStream_t &S : Streams)
    CHECK(cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  for (unsigned T = 0; T < Turns; ++T) {
    step<<<Blocks, Threads, 0, Streams[T % 2]>>>(Cells);
    CHECK(cudaEventRecord(Done, Streams[T % 2]));
    CHECK(cudaStreamWaitEvent(Streams[(T + 1) % 2], Done));
  }
  return finish(matches(Cells, Blocks * Threads, [](size_t) { return Turns; }));
}
