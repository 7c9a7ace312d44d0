// Intent: a compare-and-swap that fails is a load, and acquires if it is to: a reader
// asks for a slot that is free and learns that it is full.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Blocks = 4, Rounds = 8, Free = 0, Filling = 1, Full = 2;

struct Slot {
  unsigned State, Data;
};

__global__ void fill(Slot *Slots, unsigned *Sums) {
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Slot &S = Slots[R];
    unsigned State;
    // One fills the slot, the others wait until it is full.
    while ((State = SWAP(ACQUIRE_UNLESS_RACY, &S.State, Free, Filling)) == Filling)
      ;
    if (State == Free) {
      S.Data = R * R + 1; // RACE
      STORE(release, &S.State, Full);
    }
    Sum += S.Data; // RACE
  }
  Sums[blockIdx.x] = Sum;
}

int main() {
  unsigned *Sums = zeroed<unsigned>(Blocks), Sum = 0;
  fill<<<Blocks, 1>>>(zeroed<Slot>(Rounds), Sums);
  for (unsigned R = 0; R < Rounds; ++R)
    Sum += R * R + 1;
  return finish(matches(Sums, Blocks, [=](size_t) { return Sum; }));
}
