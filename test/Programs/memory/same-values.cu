// Intent: blocks store the value to an array that is there already, or that other blocks
// store. A check that only looks at values sees no change, unless it writes another value
// first. The fixed twin stores the same, but each word by one thread only, and reads words
// back that it has just stored, of several sizes.
// OPTIONS: garbage=1
// OPTIONS: garbage=1:watchpoints=0:budget=0
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 8, N = Threads * Blocks;
CONSTANT Scaled<200, 3> Rounds;

struct Row {
  unsigned char Small;
  unsigned short Short;
  unsigned Word;
  unsigned long long Long;
};

__global__ void mark(unsigned *Marks, Row *Rows, unsigned *Sums) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
#ifdef RACY
    Marks[I / 2 % Threads] = 1; // RACE
#else
    Marks[I] = 1;
#endif
    Row &Mine = Rows[I];
    Mine.Small = Mine.Small + 1;
    Mine.Short = Mine.Small;
    Mine.Word = Mine.Word + Mine.Short;
    Mine.Long = Mine.Word;
    Rows[N + I] = Mine;
    Sums[I] += unsigned(Rows[N + I].Long);
  }
}

int main() {
  unsigned *Marks = zeroed<unsigned>(N), *Sums = zeroed<unsigned>(N);
  Row *Rows = zeroed<Row>(2 * N);
  mark<<<Blocks, Threads>>>(Marks, Rows, Sums);
  unsigned Want = 0, Word = 0;
  for (unsigned R = 0; R < Rounds; ++R)
    Want += Word += (R + 1) % 256;
#ifdef RACY
  const bool AreMarked = matches(Marks, Threads, [](size_t) { return 1u; });
#else
  const bool AreMarked = matches(Marks, N, [](size_t) { return 1u; });
#endif
  return finish(AreMarked && matches(Sums, N, [=](size_t) { return Want; }));
}
