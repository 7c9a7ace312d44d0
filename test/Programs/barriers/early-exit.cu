// Intent: some warps write and leave the kernel, and are not at the barrier behind which the others
// read. By PTX (8.9.4) a barrier orders the threads that arrive at it, and the end of a thread is no
// arrival.
// FIXED: arrives-and-leaves -DARRIVE
// FIXED: leaves-before-another -DARRIVE -DBARRIERS=2
// RACY: at-first-barrier
// RACY: at-second-barrier -DBARRIERS=2
// RACY: behind-barrier -DLATE
// UNSEEN: metadata (at-*): a barrier counts as after the threads of the block that have exited
// UNSEEN: collider (at-*): the threads that have exited access nothing while a check waits
#include "../check.h"

#ifndef BARRIERS
#define BARRIERS 1
#endif

constexpr unsigned Half = 64, Blocks = 20;

__global__ void handOver(unsigned *Cells, unsigned *Out) {
  unsigned *Mine = Cells + blockIdx.x * Half;
#ifdef LATE
  __syncthreads();
#endif
  if (threadIdx.x >= Half) {
    __threadfence();
    Mine[threadIdx.x - Half] = threadIdx.x; // RACE
#ifdef ARRIVE
    // By CUDA C++ a __syncthreads() would have to be the one of the others.
    asm volatile("barrier.sync 0;" ::: "memory");
#endif
    return;
  }
#ifndef LATE
  for (unsigned I = 0; I < BARRIERS; ++I)
    __syncthreads();
#endif
  Out[blockIdx.x * Half + threadIdx.x] = Mine[threadIdx.x]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Blocks * Half);
  unsigned *Out = zeroed<unsigned>(Blocks * Half);
  handOver<<<Blocks, 2 * Half>>>(Cells, Out);
#ifdef LATE
  CHECK(cudaDeviceSynchronize());
  return finish(true);
#else
  return finish(matches(Out, Blocks * Half,
                        [](size_t I) { return Half + I % Half; }));
#endif
}
