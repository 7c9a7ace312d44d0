// Intent: Lamport's bakery: mutual exclusion by loads, stores and sequentially
// consistent fences alone, without one read-modify-write.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Blocks = 4, Rounds = 3;

struct Bakery {
  unsigned IsChoosing[Blocks], Number[Blocks];
};

__device__ void lock(Bakery *B) {
  unsigned Me = blockIdx.x, Largest = 0;
  STORE(relaxed, &B->IsChoosing[Me], 1);
  FENCE(sc);
  for (unsigned I = 0; I < Blocks; ++I)
    Largest = max(Largest, LOAD(relaxed, &B->Number[I]));
  STORE(relaxed, &B->Number[Me], Largest + 1);
  STORE(release, &B->IsChoosing[Me], 0);
  FENCE(sc);
  for (unsigned I = 0; I < Blocks; ++I) {
    while (LOAD(acquire, &B->IsChoosing[I]) != 0)
      ;
    for (;;) {
      unsigned Number = LOAD(ACQUIRE_UNLESS_RACY, &B->Number[I]);
      if (Number == 0 || Number > Largest + 1 || (Number == Largest + 1 && I >= Me))
        break;
    }
  }
}

__device__ void unlock(Bakery *B) { STORE(release, &B->Number[blockIdx.x], 0); }

__global__ void count(Bakery *B, unsigned *Counters) {
  for (unsigned R = 0; R < Rounds; ++R) {
    lock(B);
    Counters[0] += 1;           // RACE
    Counters[1] += Counters[0]; // RACE
    unlock(B);
  }
}

int main() {
  Bakery *B = zeroed<Bakery>(1);
  unsigned *Counters = zeroed<unsigned>(2);
  count<<<Blocks, 1>>>(B, Counters);
  constexpr unsigned N = Blocks * Rounds;
  return finish(
      matches(Counters, 2, [](size_t I) { return I == 0 ? N : N * (N + 1) / 2; }));
}
