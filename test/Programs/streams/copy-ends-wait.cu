// Intent: a kernel that fills the device waits for a flag that a stream copies. A check
// in front of the copy would never find room, and the kernel would never end. The copy is
// no strong access, so that it races with the kernel's.
// RACY-ONLY
// RACY: copied-later
// RACY: copied-before -DBEFORE
// UNSEEN: collider metadata: who waits tells the host, or is not seen by a copy
#include "streams.h"

#include <algorithm>

constexpr unsigned N = 1000;

/// Something that does not wait.
__global__ void touch(unsigned *Cell) { *Cell += 1; }

__global__ void await(const volatile unsigned *Flag, unsigned *Out, unsigned Wanted) {
  while (*Flag < Wanted) // RACE
    ;
  Out[blockIdx.x] = 1;
}

int main() {
  int Processors, BlocksEach;
  CHECK(cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&BlocksEach, await, 1, 0));
  const unsigned Blocks = Processors * BlocksEach;
  unsigned *Flag = zeroed<unsigned>(1), *Cells = zeroed<unsigned>(N);
  unsigned *Out = zeroed<unsigned>(Blocks), *Ones;
  CHECK(cudaMallocHost((void **)&Ones, N * sizeof(unsigned)));
  std::fill(Ones, Ones + N, 1);
  cudaStream_t Waiter = makeStream(), Copier = makeStream();
  // First launches load the kernels, which may wait for what is running.
  touch<<<1, 1, 0, Copier>>>(Cells);
  await<<<Blocks, 1, 0, Waiter>>>(Flag, Out, 0);
  CHECK(cudaDeviceSynchronize());
#ifdef BEFORE
  CHECK(cudaMemcpyAsync(Cells, Ones, N * sizeof(unsigned), cudaMemcpyHostToDevice, Copier));
  CHECK(cudaMemcpyAsync(Flag, Ones, sizeof(unsigned), cudaMemcpyHostToDevice, // RACE
                        Copier));
  await<<<Blocks, 1, 0, Waiter>>>(Flag, Out, 1);
#else
  await<<<Blocks, 1, 0, Waiter>>>(Flag, Out, 1);
  CHECK(cudaMemcpyAsync(Flag, Ones, sizeof(unsigned), cudaMemcpyHostToDevice, // RACE
                        Copier));
#endif
  return finish(matches(Out, Blocks, [](size_t) { return 1u; }));
}
