// Intent: more fences than a cell's clock has values, between the accesses that
// they order.
// OPTIONS: shadow=exact
// OPTIONS: shadow=cached
// ALONE
#include "../check.h"

constexpr unsigned Messages = 2;
CONSTANT Scaled<4, 1> Pairs;
// Two launches make an exact cell's clock overflow on hardware, and a cached one's
// on the simulated GPU, too.
CONSTANT Scaled<550000, 20000> Fences;

__device__ void fence(unsigned Times) {
  for (unsigned I = 0; I < Times; ++I)
    __threadfence_block();
}

/// Blocks 2 P and 2 P + 1 take turns to add to a word.
__global__ void exchange(unsigned *Words, volatile unsigned *Turns) {
  unsigned Pair = blockIdx.x / 2, Me = blockIdx.x % 2;
#ifdef RACY
  Words[Pair] = Me; // RACE
  __threadfence();
#endif
  for (unsigned M = Me; M < 2 * Messages; M += 2) {
    while (Turns[Pair] != M)
      ;
    __threadfence();
    fence(Fences);
    Words[Pair] += M; // RACE
    fence(Fences);
    __threadfence();
    Turns[Pair] = M + 1;
  }
}

int main() {
  unsigned *Words = zeroed<unsigned>(Pairs), *Turns = zeroed<unsigned>(Pairs);
  bool Right = true;
  for (unsigned Launch = 0; Launch < 2; ++Launch) {
    CHECK(cudaMemset(Words, 0, Pairs * sizeof(unsigned)));
    CHECK(cudaMemset(Turns, 0, Pairs * sizeof(unsigned)));
    exchange<<<2 * Pairs, 1>>>(Words, Turns);
    Right &= matches(Words, Pairs, [](size_t) {
      return Messages * (2 * Messages - 1);
    });
  }
  return finish(Right);
}
