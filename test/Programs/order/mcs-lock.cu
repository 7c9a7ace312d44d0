// Intent: an MCS lock: each thread spins on a word of its own, which the one before it
// in the queue clears. The data under the lock is plain.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Blocks = 4, Rounds = 6;

struct Lock {
  unsigned Tail; // The number of the last in the queue plus one.
  struct {
    unsigned Next, IsWaiting;
  } Nodes[Blocks];
};

__device__ void lock(Lock *L) {
  auto &Mine = L->Nodes[blockIdx.x];
  STORE(relaxed, &Mine.Next, 0);
  STORE(relaxed, &Mine.IsWaiting, 1);
  unsigned Before = UPDATE(acq_rel, exch.b32, &L->Tail, blockIdx.x + 1);
  if (Before == 0)
    return;
  STORE(release, &L->Nodes[Before - 1].Next, blockIdx.x + 1);
  while (LOAD(acquire, &Mine.IsWaiting) != 0)
    ;
}

__device__ void unlock(Lock *L) {
  auto &Mine = L->Nodes[blockIdx.x];
  unsigned Next = LOAD(acquire, &Mine.Next);
  if (Next == 0) {
    if (SWAP(RELEASE_UNLESS_RACY, &L->Tail, blockIdx.x + 1, 0) == blockIdx.x + 1)
      return;
    while ((Next = LOAD(acquire, &Mine.Next)) == 0)
      ;
  }
  STORE(RELEASE_UNLESS_RACY, &L->Nodes[Next - 1].IsWaiting, 0);
}

__global__ void count(Lock *L, unsigned *Counters) {
  for (unsigned R = 0; R < Rounds; ++R) {
    lock(L);
    Counters[0] += 1;           // RACE
    Counters[1] += Counters[0]; // RACE
    unlock(L);
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
