// Intent: two host threads have a stream each; one tells the other, as threads do, which
// event to wait for. The racy twin's second thread does not make its stream wait.
#include "streams.h"
#include <future>
#include <thread>

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

__global__ void make(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = 3 * I; // RACE
}

__global__ void take(const unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = Cells[N - 1 - I]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  std::promise<cudaEvent_t> Made;
  std::thread Maker([&] {
    cudaStream_t Stream = makeStream();
    cudaEvent_t Event = makeEvent();
    make<<<Blocks, Threads, 0, Stream>>>(Cells);
    CHECK(cudaEventRecord(Event, Stream));
    Made.set_value(Event);
  });
  std::thread Taker([&] {
    cudaStream_t Stream = makeStream();
    cudaEvent_t Event = Made.get_future().get();
#ifdef RACY
    (void)Event;
#else
    CHECK(cudaStreamWaitEvent(Stream, Event));
#endif
    take<<<Blocks, Threads, 0, Stream>>>(Cells, Out);
  });
  Maker.join();
  Taker.join();
  return finish(matches(Out, N, [](size_t I) { return unsigned(3 * (N - 1 - I)); }));
}
