// Intent: Peterson's lock of two blocks: loads, stores and a sequentially consistent
// fence. The data under it is plain.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Rounds = 6;

struct Lock {
  unsigned Wants[2], Turn;
};

__device__ void lock(Lock *L) {
  unsigned Me = blockIdx.x, Other = 1 - Me;
  STORE(relaxed, &L->Wants[Me], 1);
  STORE(release, &L->Turn, Other);
  FENCE(sc);
  while (LOAD(ACQUIRE_UNLESS_RACY, &L->Wants[Other]) != 0 &&
         LOAD(ACQUIRE_UNLESS_RACY, &L->Turn) == Other)
    ;
}

__device__ void unlock(Lock *L) { STORE(release, &L->Wants[blockIdx.x], 0); }

__global__ void count(Lock *L, unsigned *Counters) {
  for (unsigned R = 0; R < Rounds; ++R) {
    lock(L);
    Counters[0] += 1;           // RACE
    Counters[1] += Counters[0]; // RACE
    unlock(L);
  }
}

int main() {
  unsigned *Counters = zeroed<unsigned>(2);
  count<<<2, 1>>>(zeroed<Lock>(1), Counters);
  constexpr unsigned N = 2 * Rounds;
  return finish(
      matches(Counters, 2, [](size_t I) { return I == 0 ? N : N * (N + 1) / 2; }));
}
