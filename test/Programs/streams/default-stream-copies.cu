// Intent: cudaMemset and cudaMemcpy run in the default stream, for which a stream that
// does not block does not wait, nor it for them. The racy twins rely on it.
// FIXED: fill-event
// FIXED: fill-blocking -DBLOCKING
// FIXED: to-host-waits -DTO_HOST
// FIXED: to-host-blocking -DTO_HOST -DBLOCKING
// FIXED: within-event -DWITHIN
// FIXED: within-blocking -DWITHIN -DBLOCKING
// RACY: fill
// RACY: to-host -DTO_HOST
// RACY: within -DWITHIN
// UNSEEN: collider: no value changes while a check looks at it
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;

__global__ void put(unsigned *Cells) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Cells[I] = I + 1; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Copy = zeroed<unsigned>(N);
  std::vector<unsigned> Host(N);
  cudaStream_t Streams[2];
  for (cudaStream_t &S : Streams) {
#ifdef BLOCKING
    CHECK(cudaStreamCreate(&S));
#else
    S = makeStream();
#endif
  }
  cudaStream_t Stream = Streams[0];
  // No copy is checked before the program's code is loaded.
  put<<<Blocks, Threads, 0, Stream>>>(Copy);
  CHECK(cudaDeviceSynchronize());
  const auto Wait = [&] {
#if !defined(RACY) && !defined(BLOCKING)
    CHECK(cudaStreamSynchronize(Stream));
#endif
  };
#if defined(TO_HOST)
  put<<<Blocks, Threads, 0, Stream>>>(Cells);
  Wait();
  CHECK(cudaMemcpy(Host.data(), Cells, N * sizeof(unsigned), // RACE: to-host
                   cudaMemcpyDeviceToHost));
#elif defined(WITHIN)
  // No copy within the device's memory waits for its end.
  CHECK(cudaMemcpy(Cells, Copy, N * sizeof(unsigned), // RACE: within
                   cudaMemcpyDeviceToDevice));
#if !defined(RACY) && !defined(BLOCKING)
  order(nullptr, Stream);
#endif
  put<<<Blocks, Threads, 0, Stream>>>(Cells);
#else
  CHECK(cudaMemset(Cells, 0, N * sizeof(unsigned))); // RACE: fill
#if !defined(RACY) && !defined(BLOCKING)
  order(nullptr, Stream);
#endif
  put<<<Blocks, Threads, 0, Stream>>>(Cells);
#endif
  return finish(matches(Cells, N, [](size_t I) { return unsigned(I + 1); }));
}
