// Intent: one stream fills two buffers by turns and another one empties them; events say
// "full" and "empty". The racy twin's first stream does not wait for "empty".
#include "streams.h"

constexpr unsigned Threads = 64, Rounds = 6;

__global__ void fill(unsigned *Buffer, unsigned Round) {
  Buffer[threadIdx.x] = Round * Threads + threadIdx.x; // RACE
}

__global__ void drain(const unsigned *Buffer, unsigned *Sums) {
  Sums[threadIdx.x] += Buffer[Threads - 1 - threadIdx.x]; // RACE
}

int main() {
  cudaStream_t Filler = makeStream(), Drainer = makeStream();
  cudaEvent_t Full[2] = {makeEvent(), makeEvent()}, Empty[2] = {makeEvent(), makeEvent()};
  unsigned *Buffers = zeroed<unsigned>(2 * Threads), *Sums = zeroed<unsigned>(Threads);
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Buffer = Buffers + R % 2 * Threads;
#ifndef RACY
    // An event that was not recorded yet keeps nobody waiting.
    CHECK(cudaStreamWaitEvent(Filler, Empty[R % 2]));
#endif
    fill<<<1, Threads, 0, Filler>>>(Buffer, R);
    CHECK(cudaEventRecord(Full[R % 2], Filler));
    CHECK(cudaStreamWaitEvent(Drainer, Full[R % 2]));
    drain<<<1, Threads, 0, Drainer>>>(Buffer, Sums);
    CHECK(cudaEventRecord(Empty[R % 2], Drainer));
  }
  return finish(matches(Sums, Threads, [](size_t T) {
    return unsigned(Threads * Rounds * (Rounds - 1) / 2 + Rounds * (Threads - 1 - T));
  }));
}
