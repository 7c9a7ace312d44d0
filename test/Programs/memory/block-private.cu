// Intent: all blocks use the same shared offsets, all threads the bytes of words
// that they share with others: the accesses meet in time, but not in memory.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 64, Rounds = 30;
CONSTANT Scaled<256, 8> Blocks;

__global__ void count(unsigned char *Bytes, unsigned *Out) {
  __shared__ unsigned char Mine[Threads];
  __shared__ unsigned Turn[Threads / 32];
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Mine[threadIdx.x] = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Mine[threadIdx.x] += 1;
    Bytes[I] += 1;
    if (threadIdx.x % 32 == 0)
      Turn[threadIdx.x / 32] = R + blockIdx.x;
    __syncwarp();
    if (threadIdx.x % 32 == 31 && Turn[threadIdx.x / 32] != R + blockIdx.x)
      Out[I] = 1;
    __syncwarp();
  }
  if (Mine[threadIdx.x] != Rounds)
    Out[I] = 1;
}

int main() {
  unsigned char *Bytes = zeroed<unsigned char>(Blocks * Threads);
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  count<<<Blocks, Threads>>>(Bytes, Out);
  bool Right = matches(Out, Blocks * Threads, [](size_t) { return 0u; });
  return finish(Right && matches(Bytes, Blocks * Threads, [](size_t) -> unsigned char {
                  return Rounds;
                }));
}
