// Intent: before one thread adds up what the blocks have left, the whole grid must
// synchronise and not just the block.
// FIXED: grid
// RACY: block -DGROUP=Block
#include "../check.h"
#include <cooperative_groups.h>

#ifndef GROUP
#define GROUP Grid
#endif

namespace cg = cooperative_groups;

constexpr unsigned Threads = 64;
CONSTANT Scaled<128, 8> Blocks;

__device__ void reduceBlock(const unsigned *In, unsigned *Out, unsigned N,
                            cg::thread_block Block) {
  __shared__ unsigned Sums[Threads];
  unsigned Sum = 0, Thread = Block.thread_rank();
  for (unsigned I = blockIdx.x * Threads + Thread; I < N;
       I += gridDim.x * Threads)
    Sum += In[I];
  Sums[Thread] = Sum;
  for (unsigned Half = Threads / 2; Half > 0; Half /= 2) {
    Block.sync();
    if (Thread < Half)
      Sums[Thread] += Sums[Thread + Half];
  }
  if (Thread == 0)
    Out[blockIdx.x] = Sums[0]; // RACE
}

__global__ void reduce(const unsigned *In, unsigned *Out, unsigned N) {
  cg::thread_block Block = cg::this_thread_block();
  cg::grid_group Grid = cg::this_grid();
  reduceBlock(In, Out, N, Block);
  GROUP.sync();
  if (Grid.thread_rank() == 0)
    for (unsigned B = 1; B < gridDim.x; ++B)
      Out[0] += Out[B]; // RACE
}

int main() {
  unsigned N = Blocks * Threads * 4 + 1;
  const unsigned *In = upload(std::vector<unsigned>(N, 3));
  unsigned *Out = zeroed<unsigned>(Blocks);
  void *Arguments[] = {&In, &Out, &N};
  CHECK(cudaLaunchCooperativeKernel((const void *)reduce, Blocks, Threads,
                                    Arguments, 0, 0));
  return finish(matches(Out, 1, [=](size_t) { return 3 * N; }));
}
