// Intent: a graph is launched again and again. Its kernel writes, at each launch, what
// other blocks and other warps wrote at the launch before. (On hardware all launches of
// a node have one %gridid.)
// RACY: in-launch -DRACY -DBLOCKS=16
// FIXED: between-launches
// FIXED: many-blocks -DBLOCKS=32900 -DTHREADS=2 -DLAUNCHES=2
// UNSEEN: collider: the accesses are short and rare
#include "streams.h"

#ifndef BLOCKS
#define BLOCKS 2048
#endif
#ifndef THREADS
#define THREADS 64
#endif
#ifndef LAUNCHES
#define LAUNCHES 3
#endif
constexpr unsigned Threads = THREADS, Blocks = BLOCKS, N = Threads * Blocks;
constexpr unsigned Launches = LAUNCHES;

__global__ void rotate(unsigned *Cells, const unsigned *Round, unsigned *Met) {
  unsigned R = *Round;
  unsigned Block = (blockIdx.x + R * (Blocks / 2)) % Blocks;
  unsigned Thread = (threadIdx.x + 32 * R) % Threads;
#ifdef RACY
  // All blocks of a pair are there.
  Block = Block / 2;
  if (threadIdx.x == 0) {
    atomicAdd(&Met[blockIdx.x / 2], 1);
    while (atomicAdd(&Met[blockIdx.x / 2], 0) < 2 * (R + 1))
      ;
  }
#endif
  Cells[Block * Threads + Thread] = R + 1; // RACE
}

__global__ void count(unsigned *Round) { *Round += 1; }

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Round = zeroed<unsigned>(1);
  unsigned *Met = zeroed<unsigned>(Blocks);
  cudaStream_t S = makeStream();
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(S, cudaStreamCaptureModeThreadLocal));
  rotate<<<Blocks, Threads, 0, S>>>(Cells, Round, Met);
  count<<<1, 1, 0, S>>>(Round);
  CHECK(cudaStreamEndCapture(S, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (unsigned I = 0; I < Launches; ++I)
    CHECK(cudaGraphLaunch(Exec, S));
  CHECK(cudaStreamSynchronize(S));
  return finish(matches(Cells, N, [](size_t) { return Launches; }));
}
