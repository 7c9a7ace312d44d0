// Intent: more barriers than a cached cell's clock has values.
// OPTIONS: shadow=exact
// OPTIONS: shadow=cached
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;
CONSTANT Scaled<50000, 200> Rounds;

/// The words of a block go round once in as many rounds as it has threads.
__global__ void turn(unsigned *Words) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Word = Words[First + (I + 1) % Threads]; // RACE
#ifdef RACY
    // Once, for the clock's end is also that of what can be known.
    if (R != 10)
#endif
      __syncthreads();
    Words[First + I] = Word; // RACE
    __syncthreads();
  }
}

int main() {
  std::vector<unsigned> Start(N);
  for (unsigned I = 0; I < N; ++I)
    Start[I] = I;
  unsigned *Words = upload(Start);
  turn<<<Blocks, Threads>>>(Words);
  turn<<<Blocks, Threads>>>(Words);
  return finish(matches(Words, N, [](size_t I) {
    return I / Threads * Threads + (I + 2 * Rounds) % Threads;
  }));
}
