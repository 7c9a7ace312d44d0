// Intent: the first lane of a warp takes places for all of its lanes by one atomic, and
// hands them on through shared memory, without __syncwarp. In the loop, LLVM can read
// the other lanes' value once, before the loop.
#include "../check.h"
#include <algorithm>

constexpr unsigned Threads = 64, Blocks = 2, Rounds = 8,
                   Places = Threads * Blocks * Rounds;

__device__ void handOver() {
#ifndef RACY
  __syncwarp();
#endif
}

__global__ void take(unsigned *Next, unsigned *Out) {
  __shared__ unsigned Base[Threads / 32];
  const unsigned Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  Out += (blockIdx.x * Threads + threadIdx.x) * Rounds;
  for (unsigned R = 0; R < Rounds; ++R) {
    if (Lane == 0)
      Base[Warp] = atomicAdd(Next, 32); // RACE
    handOver();
    Out[R] = Base[Warp] + Lane; // RACE
    handOver();
  }
}

int main() {
  unsigned *Next = zeroed<unsigned>(1), *Out = zeroed<unsigned>(Places);
  take<<<Blocks, Threads>>>(Next, Out);
  std::vector<unsigned> Taken = download(Out, Places);
  std::sort(Taken.begin(), Taken.end());
  bool Right = true;
  for (unsigned I = 0; I < Places; ++I)
    Right &= Taken[I] == I;
  return finish(Right);
}
