// Two source files, each with a fat binary of its own, and streams with an event.
#include "common.h"
unsigned *other(cudaStream_t Stream, unsigned *Out);
__global__ void use(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  Out[threadIdx.x] += exchangeIn(Tile, 9);
}
int main() {
  cudaStream_t A, B;
  cudaEvent_t Event;
  CHECK(cudaStreamCreate(&A));
  CHECK(cudaStreamCreate(&B));
  CHECK(cudaEventCreate(&Event));
  unsigned *Out, Host[Threads];
  CHECK(cudaMallocAsync(&Out, sizeof(Host), A));
  CHECK(cudaMemsetAsync(Out, 0, sizeof(Host), A));
  use<<<1, Threads, 0, A>>>(Out);
  CHECK(cudaEventRecord(Event, A));
  CHECK(cudaStreamWaitEvent(B, Event, 0));
  other(B, Out);
  CHECK(cudaMemcpyAsync(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost, B));
  CHECK(cudaStreamSynchronize(B));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Host[I], wanted(I, 9) + I, "out");
  CHECK(cudaFreeAsync(Out, B));
  return finish();
}
