// Intent: one thread of the block writes a shared variable, and one other thread reads
// it; the conditions that choose them name one index with different values.
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8;
CONSTANT Scaled<64, 8> Rounds;

__global__ void hand(int *Out, int Readers, int Round) {
  __shared__ int Tile;
  if (threadIdx.x == 0)
    Tile = Round; // RACE
#ifndef RACY
  __syncthreads();
#endif
  int X = 1;
  if (Readers && threadIdx.x == 40)
    X = Tile; // RACE
  __syncthreads();
  atomicAdd(Out, X != 0);
}

int main() {
  int *Out;
  CHECK(cudaMalloc(&Out, sizeof(int)));
  CHECK(cudaMemset(Out, 0, sizeof(int)));
  for (unsigned Round = 1; Round <= Rounds; ++Round)
    hand<<<Blocks, Threads>>>(Out, 1, Round);
  CHECK(cudaDeviceSynchronize());
  int Count;
  CHECK(cudaMemcpy(&Count, Out, sizeof(int), cudaMemcpyDeviceToHost));
#ifdef RACY
  std::puts("DONE");
#else
  std::puts(Count == int(Rounds * Blocks * Threads) ? "PASS" : "FAIL");
#endif
}
