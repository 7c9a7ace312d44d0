// Intent: with volatile=weak, volatile accesses are judged as C++ judges them: they
// order nothing, and race like plain ones.
// OPTIONS: volatile=weak
// FIXED: atomic
// FIXED: barrier -DBARRIER
// RACY: flag -DVOLATILE_FLAG
// RACY: words -DVOLATILE_WORDS
// UNSEEN: collider: to the collider, volatile accesses are strong, whatever the option
#include "../check.h"

constexpr unsigned Threads = 64, Pairs = 4, N = Threads * Pairs;

#ifdef VOLATILE_WORDS
typedef volatile unsigned Word;
#else
typedef unsigned Word;
#endif

#ifdef VOLATILE_FLAG
__device__ void tell(unsigned *Flag) {
  *static_cast<volatile unsigned *>(Flag) = 1; // RACE: flag
}
__device__ bool isTold(unsigned *Flag) {
  return *static_cast<volatile unsigned *>(Flag); // RACE: flag
}
#else
__device__ void tell(unsigned *Flag) { atomicExch(Flag, 1); }
__device__ bool isTold(unsigned *Flag) { return atomicAdd(Flag, 0); }
#endif

/// The first half of a block tells the second.
__global__ void exchange(Word *Words, unsigned *Flags, unsigned *Out) {
  const unsigned T = threadIdx.x, Base = blockIdx.x * Threads;
  if (T < Threads / 2)
    Words[Base + T] = T + 1; // RACE
#if defined(BARRIER)
  __syncthreads();
#elif !defined(VOLATILE_WORDS)
  if (T < Threads / 2) {
    __threadfence();
    tell(&Flags[Base + T]);
  } else {
    while (!isTold(&Flags[Base + T - Threads / 2]))
      ;
    __threadfence();
  }
#endif
  if (T >= Threads / 2)
    Out[Base + T] = Words[Base + T - Threads / 2]; // RACE
}

int main() {
  unsigned *Words = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  exchange<<<Pairs, Threads>>>(Words, zeroed<unsigned>(N), Out);
  return finish(matches(Out, N, [](size_t I) {
    const unsigned T = I % Threads;
    return T < Threads / 2 ? 0 : T - Threads / 2 + 1;
  }));
}
