// Intent: who read a word, and who wrote it first, is not forgotten because its owner
// reads and writes it again and again.
// FIXED: apart -DDISTANCE=0
// RACY: neighbour -DDISTANCE=1
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

/// The second block looks at a word of the first one, which goes on meanwhile.
__global__ void stir(volatile unsigned *Turn, unsigned *Words, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Sum = 0;
  if (blockIdx.x == 1) {
    Out[I] = Words[(I + DISTANCE * Threads) % N]; // RACE
    __syncthreads();
    Turn[threadIdx.x] = 1;
    return;
  }
  // Without a fence, this orders nothing.
  while (Turn[threadIdx.x] == 0)
    ;
  for (unsigned R = 0; R < 3; ++R) {
    Sum += Words[I];
    __syncthreads();
  }
  Words[I] = Sum + 1; // RACE
}

int main() {
  unsigned *Words = zeroed<unsigned>(N), *Turn = zeroed<unsigned>(Threads);
  stir<<<Blocks, Threads>>>(Turn, Words, zeroed<unsigned>(N));
  return finish(matches(Words, Threads, [](size_t) { return 1u; }));
}
