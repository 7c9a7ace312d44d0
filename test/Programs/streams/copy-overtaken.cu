// Intent: a kernel overwrites what a copy to the host, on another stream, has yet to read.
// The racy twins do not wait for the copy.
// FIXED: waits
// FIXED: host-waits -DHOST_WAITS
// FIXED: host-waits-pageable -DHOST_WAITS -DPAGEABLE
// FIXED: host-looks -DHOST_LOOKS
// RACY: pinned
// RACY: fill -DFILL
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000000, 3000> Steps;
CONSTANT Scaled<30000, 300> Rounds;

/// Keeps a stream busy for so long that the other one's kernel has begun.
__global__ void work(unsigned *Out, unsigned Steps) {
  unsigned X = 1;
  for (unsigned I = 0; I < Steps; ++I)
    X = X * 0x9e3779b9 + (X >> 15);
  *Out = X;
}

__global__ void overwrite(unsigned *Cells, unsigned Rounds) {
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[blockIdx.x * Threads + threadIdx.x] = R; // RACE
    __syncthreads();
  }
}

/// Whether all has been copied.
bool isThere(const volatile unsigned *To) {
  for (unsigned I = 0; I < N; ++I)
    if (To[I] != 0)
      return false;
  return true;
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(1), *To;
#ifdef PAGEABLE
  static unsigned Host[N];
  To = Host;
#else
  CHECK(cudaMallocHost((void **)&To, N * sizeof(unsigned)));
#endif
  cudaStream_t Copier = makeStream(), Writer = makeStream();
  for (unsigned I = 0; I < N; ++I)
    To[I] = 1;
  // A first launch loads the kernels, which may wait for what is running.
  work<<<1, 1, 0, Copier>>>(Out, 0);
  overwrite<<<Blocks, Threads, 0, Writer>>>(Cells, 0);
  CHECK(cudaDeviceSynchronize());
  // While this runs, the copy cannot begin.
  work<<<1, 1, 0, Copier>>>(Out, Steps);
#ifdef FILL
  CHECK(cudaMemsetAsync(Cells, 0, N * sizeof(unsigned), Copier)); // RACE: fill
#else
  CHECK(cudaMemcpyAsync(To, Cells, N * sizeof(unsigned), cudaMemcpyDefault, // RACE: pinned
                        Copier));
#endif
#if defined(HOST_WAITS)
  CHECK(cudaStreamSynchronize(Copier));
#elif defined(HOST_LOOKS)
  while (!isThere(To))
    CHECK(cudaStreamQuery(Writer));
#elif !defined(RACY)
  order(Copier, Writer);
#endif
  overwrite<<<Blocks, Threads, 0, Writer>>>(Cells, Rounds);
  CHECK(cudaDeviceSynchronize());
  return finish(matches(Cells, N, [](size_t) { return unsigned(Rounds); }));
}
