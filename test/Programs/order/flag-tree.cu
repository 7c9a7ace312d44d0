// Intent: a sum goes up a tree: of the two blocks that come to a node the second one
// goes on, with what the first has left there.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Threads = 32, Blocks = 8;

__global__ void sum(unsigned *Arrived, unsigned *Partial, unsigned *Out) {
  __shared__ unsigned Goes;
  unsigned T = threadIdx.x, Node = Blocks + blockIdx.x;
  Partial[Node * Threads + T] = blockIdx.x * Threads + T; // RACE
  while (Node > 1) {
    __syncthreads();
    if (T == 0)
#ifdef RACY
      Goes = UPDATE(relaxed, add.u32, &Arrived[Node / 2], 1);
#else
      Goes = UPDATE(acq_rel, add.u32, &Arrived[Node / 2], 1);
#endif
    __syncthreads();
    if (Goes == 0)
      return;
    Node /= 2;
    unsigned Both = Partial[2 * Node * Threads + T]; // RACE
    Both += Partial[(2 * Node + 1) * Threads + T];   // RACE
    Partial[Node * Threads + T] = Both;              // RACE
  }
  Out[T] = Partial[Threads + T];
}

int main() {
  unsigned *Arrived = zeroed<unsigned>(Blocks), *Out = zeroed<unsigned>(Threads);
  unsigned *Partial = zeroed<unsigned>(2 * Blocks * Threads);
  sum<<<Blocks, Threads>>>(Arrived, Partial, Out);
  return finish(matches(Out, Threads, [](size_t T) {
    return unsigned(Blocks * T + Threads * Blocks * (Blocks - 1) / 2);
  }));
}
