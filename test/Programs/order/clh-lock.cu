// Intent: a CLH lock: each thread spins on the word of the one before it in the queue,
// and takes that word for its own when it leaves.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Blocks = 4, Rounds = 6;

struct Lock {
  unsigned Tail;
  unsigned IsHeld[Blocks + 1];
};

__global__ void count(Lock *L, unsigned *Counters) {
  unsigned Mine = blockIdx.x + 1;
  for (unsigned R = 0; R < Rounds; ++R) {
    STORE(relaxed, &L->IsHeld[Mine], 1);
    // With an order, for the next thread must not find an older value of the word.
    unsigned Before = UPDATE(acq_rel, exch.b32, &L->Tail, Mine);
    while (LOAD(ACQUIRE_UNLESS_RACY, &L->IsHeld[Before]) != 0)
      ;
    Counters[0] += 1;           // RACE
    Counters[1] += Counters[0]; // RACE
    STORE(release, &L->IsHeld[Mine], 0);
    Mine = Before;
  }
}

int main() {
  Lock *L = zeroed<Lock>(1);
  unsigned *Counters = zeroed<unsigned>(2);
  count<<<Blocks, 1>>>(L, Counters);
  constexpr unsigned N = Blocks * Rounds;
  return finish(
      matches(Counters, 2, [](size_t I) { return I == 0 ? N : N * (N + 1) / 2; }));
}
