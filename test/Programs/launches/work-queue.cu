// Intent: blocks that fill the GPU take items from a queue by an atomic counter and wait
// for the last block, which makes the items.
// CLEAN-ONLY
#include "persistent.h"

CONSTANT Scaled<4096, 40> Items;

__global__ void work(unsigned *Next, unsigned *Ready, unsigned *Queue,
                     unsigned *Out) {
  __shared__ unsigned Mine, Seed;
  const unsigned T = threadIdx.x;
  if (blockIdx.x == gridDim.x - 1) {
    // Makes items, as many at a time as it has threads.
    for (unsigned Begin = 0; Begin < Items; Begin += blockDim.x) {
      if (Begin + T < Items)
        Queue[Begin + T] = (Begin + T) * 7 + 1;
      __syncthreads();
      if (T == 0)
        tell(Ready, Begin + blockDim.x);
    }
    return;
  }
  while (true) {
    if (T == 0) {
      Mine = atomicAdd(Next, 1);
      if (Mine < Items) {
        waitFor(Ready, Mine + 1);
        Seed = Queue[Mine];
      }
    }
    __syncthreads();
    const unsigned Item = Mine, From = Seed;
    __syncthreads();
    if (Item >= Items)
      return;
    unsigned Value = From + T;
    for (unsigned I = 0; I < 16; ++I)
      Value = Value * 1664525u + 1013904223u;
    Out[Item * blockDim.x + T] = Value;
  }
}

int main() {
  const unsigned Blocks = blocksByHand();
  unsigned *Next = zeroed<unsigned>(2), *Queue = zeroed<unsigned>(Items);
  unsigned *Out = zeroed<unsigned>(Items * Threads);
  measure("work-queue", [&] {
    CHECK(cudaMemsetAsync(Next, 0, 2 * sizeof(unsigned)));
    work<<<Blocks, Threads>>>(Next, Next + 1, Queue, Out);
  });
  return finish(matches(Out, Items * Threads, [](size_t I) {
    unsigned Value = I / Threads * 7 + 1 + I % Threads;
    for (unsigned J = 0; J < 16; ++J)
      Value = Value * 1664525u + 1013904223u;
    return Value;
  }));
}
