// Intent: a stream copies the next part of the input while another one works on the last
// part. The racy twin overwrites a buffer that may still be read.
#include "streams.h"

constexpr unsigned Threads = 64, Parts = 6;

__global__ void add(const unsigned *Buffer, unsigned *Sums) {
  Sums[threadIdx.x] += Buffer[Threads - 1 - threadIdx.x]; // RACE
}

int main() {
  cudaStream_t Copier = makeStream(), Worker = makeStream();
  cudaEvent_t Empty[2] = {makeEvent(), makeEvent()};
  unsigned *Buffers = zeroed<unsigned>(2 * Threads), *Sums = zeroed<unsigned>(Threads);
  unsigned *Host;
  CHECK(cudaMallocHost((void **)&Host, Parts * Threads * sizeof(unsigned)));
  for (unsigned I = 0; I < Parts * Threads; ++I)
    Host[I] = I;
  for (unsigned P = 0; P < Parts; ++P) {
    unsigned *Buffer = Buffers + P % 2 * Threads;
#ifndef RACY
    CHECK(cudaStreamWaitEvent(Copier, Empty[P % 2]));
#endif
    CHECK(cudaMemcpyAsync(Buffer, Host + P * Threads, Threads * sizeof(unsigned), // RACE
                          cudaMemcpyHostToDevice, Copier));
    order(Copier, Worker);
    add<<<1, Threads, 0, Worker>>>(Buffer, Sums);
    CHECK(cudaEventRecord(Empty[P % 2], Worker));
  }
  return finish(matches(Sums, Threads, [](size_t T) {
    return unsigned(Threads * Parts * (Parts - 1) / 2 + Parts * (Threads - 1 - T));
  }));
}
