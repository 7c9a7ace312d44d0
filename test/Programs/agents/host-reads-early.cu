// Intent: the host reads what a kernel writes, before the kernel has ended.
// BUILD: -fsanitize-cuda-race-host
// FIXED: synchronized
// FIXED: synchronized-pinned -DPINNED
// FIXED: stream -DBY_STREAM
// FIXED: event -DBY_EVENT
// FIXED: query -DBY_QUERY
// FIXED: copied -DBY_COPY
// RACY: managed -DTOO_EARLY
// RACY: pinned -DTOO_EARLY -DPINNED
// RACY: mapped -DTOO_EARLY -DMAPPED
// RACY: registered -DTOO_EARLY -DREGISTERED
// RACY: other-stream -DOTHER_STREAM
// ALSO: -O0
#include "agents.h"

CONSTANT Scaled<50, 8> Rounds;
constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;

__global__ void fill(unsigned *Cells, unsigned Value) {
  Cells[blockIdx.x * Threads + threadIdx.x] = Value; // RACE
}

int main() {
  unsigned *Cells = shared<unsigned>(N);
  cudaStream_t Stream = makeStream(), Other = makeStream();
  cudaEvent_t Event;
  CHECK(cudaEventCreate(&Event));
  unsigned *Copy = zeroed<unsigned>(1);
  bool Right = true;
  for (unsigned R = 1; R <= Rounds; ++R) {
    fill<<<Blocks, Threads, 0, Stream>>>(Cells, R);
    CHECK(cudaEventRecord(Event, Stream));
#if defined(BY_STREAM)
    CHECK(cudaStreamSynchronize(Stream));
#elif defined(BY_EVENT)
    CHECK(cudaEventSynchronize(Event));
#elif defined(BY_QUERY)
    while (cudaStreamQuery(Stream) == cudaErrorNotReady)
      ;
    cudaGetLastError(); // "Not ready" is one.
#elif defined(BY_COPY)
    unsigned One;
    CHECK(cudaMemcpyAsync(&One, Copy, sizeof(One), cudaMemcpyDeviceToHost,
                          Stream));
    CHECK(cudaStreamSynchronize(Stream));
#elif defined(OTHER_STREAM)
    CHECK(cudaStreamSynchronize(Other));
#elif !defined(TOO_EARLY)
    CHECK(cudaDeviceSynchronize());
#endif
    for (unsigned I = 0; I < N; ++I)
      Right &= Cells[I] == R; // RACE
    CHECK(cudaDeviceSynchronize());
  }
  (void)Other, (void)Copy;
  return finish(Right);
}
