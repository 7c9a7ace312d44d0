// Intent: Table 3, cp.async.bulk (global->shared) SMEM WW: threads store to the tile that
// a bulk copy still writes. The fixed twin's threads wait for the copy first.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Blocks = 2;
CONSTANT Scaled<100, 12> Rounds;

__global__ void sum(const unsigned *In, unsigned *Out) {
  __shared__ alignas(128) unsigned Tile[2 * Threads];
  __shared__ uint64_t Full;
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  if (T == 0)
    initBarrier(&Full, 1);
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    if (T == 0) {
      expect(&Full, sizeof Tile);
      BULK_LOAD(Tile, In + R * Threads, sizeof Tile, &Full); // RACE
    }
#ifndef RACY
    wait(&Full, R % 2);
#endif
    Tile[2 * T] = R + T; // RACE
#ifdef RACY
    wait(&Full, R % 2);
#endif
    fenceForCopies();
    __syncthreads();
    Sum += Tile[2 * (Threads - 1 - T)] + Tile[2 * T + 1];
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < (Rounds + 1) * Threads; ++I)
    In.push_back(1000 * I);
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  sum<<<Blocks, Threads>>>(upload(In), Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned T = I % Threads, Turns = Rounds * (Rounds - 1) / 2;
    return Turns + Rounds * (Threads - 1 - T) +
           1000 * (Turns * Threads + Rounds * (2 * T + 1));
  }));
}
