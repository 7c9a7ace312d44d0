// Intent: a stream frees memory that a kernel on another stream uses. The racy twin does
// not wait for the kernel.
// UNSEEN: collider: no value changes while a check looks at it
#include "busy.h"
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000000, 30000> Steps;

__global__ void fill(unsigned *Cells) { Cells[blockIdx.x * Threads + threadIdx.x] = 1; }

__global__ void add(const unsigned *Cells, unsigned *Sums) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Sums[I] += Cells[N - 1 - I]; // RACE
}

int main() {
  cudaStream_t Owner = makeStream(), User = makeStream();
  unsigned *Sums = zeroed<unsigned>(N), *Out = zeroed<unsigned>(1);
  unsigned *Cells;
  CHECK(cudaMallocAsync((void **)&Cells, N * sizeof(unsigned), Owner));
  fill<<<Blocks, Threads, 0, Owner>>>(Cells);
  order(Owner, User);
  add<<<Blocks, Threads, 0, User>>>(Cells, Sums);
#ifdef RACY
  // In time the kernel has ended all the same, or it would fail.
  work<<<1, 1, 0, Owner>>>(Out, Steps);
#else
  order(User, Owner);
#endif
  CHECK(cudaFreeAsync(Cells, Owner)); // RACE
  return finish(matches(Sums, N, [](size_t) { return 1u; }));
}
