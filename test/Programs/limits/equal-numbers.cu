// Intent: blocks of one grid whose warps have the same numbers (metadata mode numbers
// them up to 32,768) write one word.
// RACY: same-number
// RACY: other-number -DSHIFT=5
// RACY: relaxed -DSHIFT=5 -DFLAGGED -DFENCE=nothing
// FIXED: apart -DAPART
// FIXED: flagged -DFLAGGED
// FIXED: flagged-other -DFLAGGED -DSHIFT=5
// UNSEEN: collider: few blocks race, and seldom are both accesses of a pair checked
#include "../check.h"

#ifndef SHIFT
#define SHIFT 0
#endif
#ifndef FENCE
#define FENCE __threadfence
#endif

constexpr unsigned Numbers = 32768, Late = 64, Blocks = Numbers + Late;

/// A fence that is missing.
__device__ inline void nothing() {}

__global__ void write(unsigned *Words, unsigned *Flags) {
  __shared__ unsigned Own;
  Own = blockIdx.x;
  unsigned Block = Own;
  bool IsLate = Block >= Numbers;
  // A late block writes the word of an early one.
  unsigned I = IsLate ? Block - Numbers + SHIFT : Block;
#if defined(APART)
  I = Block;
#elif defined(FLAGGED)
  if (IsLate) {
    while (atomicAdd(&Flags[I], 0) == 0)
      ;
    FENCE();
  }
#endif
  Words[I] = Block; // RACE
#ifdef FLAGGED
  if (!IsLate && I < Late + SHIFT) {
    FENCE();
    atomicExch(&Flags[I], 1);
  }
#endif
}

int main() {
  unsigned *Words = zeroed<unsigned>(Blocks), *Flags = zeroed<unsigned>(Blocks);
  write<<<Blocks, 1>>>(Words, Flags);
  return finish(matches(Words, Numbers - 1, [](size_t I) {
#ifdef APART
    return unsigned(I);
#else
    bool IsLate = I >= SHIFT && I < Late + SHIFT;
    return unsigned(IsLate ? I - SHIFT + Numbers : I);
#endif
  }));
}
